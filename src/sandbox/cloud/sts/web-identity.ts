import { ServiceError } from "../errors.ts";

/** Who a service account's token speaks of. */
export interface WebIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly audiences: readonly string[];
}

/** What a service account's token says. Its form and expiry are checked; its signature is not, for want of the issuer's keys. */
export function readWebIdentity(token: string, now: number): WebIdentity {
  const parts = token.split(".");
  const claims = parts.length === 3 && parts.every((part) => part !== "") ? decode(parts[1]!) : undefined;
  const { iss, sub, aud, exp } = claims ?? {};
  if (typeof iss !== "string" || typeof sub !== "string" || typeof exp !== "number") {
    throw new ServiceError(
      "InvalidIdentityToken",
      "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)",
    );
  }
  const seconds = Math.floor(now / 1000);
  if (exp <= seconds) {
    throw new ServiceError(
      "ExpiredTokenException",
      `Token expired: current date/time ${seconds} must be before the expiration date/time ${exp}`,
    );
  }
  const audiences = (Array.isArray(aud) ? aud : [aud]).filter((audience) => typeof audience === "string");
  return { issuer: iss, subject: sub, audiences };
}

function decode(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null ? (claims as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
