/** What kubelet is answered on standard output. It decodes strictly: one field too many and the whole answer is lost. */
import { formatDuration } from "./duration.ts";
import { PluginFailure } from "./errors.ts";

export interface RegistryLogin {
  readonly username: string;
  readonly password: string;
}

/** The one line for kubelet, newline included. Without a login it says "no credentials from here", and is not cached. */
export function responseLine(apiVersion: string, cacheSeconds: number, key: string, login: RegistryLogin | undefined): string {
  const response = {
    kind: "CredentialProviderResponse",
    apiVersion,
    cacheKeyType: "Registry",
    cacheDuration: formatDuration(cacheSeconds),
    auth: login === undefined ? {} : { [key]: { username: login.username, password: login.password } },
  };
  return `${JSON.stringify(response)}\n`;
}

/**
 * How long kubelet may keep a login: half its remaining life, or, with a margin, all of it but that. A login that is as
 * good as expired is given zero, never left out, because kubelet would then apply its configured default to a dead one.
 */
export function cacheSeconds(expiresAt: number | undefined, nowMs: number, marginSeconds: number | undefined): number {
  if (expiresAt === undefined) return 0;
  const left = Math.trunc(expiresAt) - Math.trunc(nowMs / 1000);
  return Math.max(0, marginSeconds === undefined ? Math.trunc(left / 2) : left - marginSeconds);
}

/** User name and password out of ECR's authorization token: base64 of `user:password`, where the password may have colons. */
export function loginFromToken(token: string): RegistryLogin {
  const base64 = token.replace(/[\r\n]/g, "");
  const wrong = base64.search(/[^A-Za-z0-9+/=]|=(?!=?$)/);
  if (wrong >= 0 || base64.length % 4 !== 0) {
    throw new PluginFailure("BadAnswer", `illegal base64 data at input byte ${wrong >= 0 ? wrong : base64.length}`);
  }
  const text = Buffer.from(base64, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 0) throw new PluginFailure("BadAnswer", "error parsing username and password from authorization token");
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
