/** How requests leave the machine: which proxy they pass, and whose certificates are trusted. */
import type { Transport } from "../runtime/http.ts";
import { awsRoots, TrustInvalid } from "../runtime/trust.ts";
import type { World } from "../runtime/world.ts";
import { PluginFailure } from "./errors.ts";
import type { Platform } from "./platform.ts";

export interface Route {
  /** URL of the proxy; undefined goes straight. */
  readonly proxy?: string;
  /** Certificates to trust, in PEM; undefined trusts the runtime's own. */
  readonly ca?: string;
}

/** A transport that heeds the proxy variables and the machine's trusted certificates, read when the first request needs them. */
export function routedTransport(connect: Platform["connect"], world: World): Transport {
  let roots: Promise<string | undefined> | undefined;
  return async (request) => {
    const proxy = request.direct ? undefined : await proxyOf(request.url, world.environment);
    const secure = request.url.protocol === "https:" || proxy?.startsWith("https:");
    if (secure) roots ??= trustedRoots(world);
    const ca = secure ? await roots : undefined;
    return await connect(request, { ...(proxy === undefined ? {} : { proxy }), ...(ca === undefined ? {} : { ca }) });
  };
}

/** The rules of proxies are loaded by those who have one. */
async function proxyOf(url: URL, environment: World["environment"]): Promise<string | undefined> {
  if (!["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"].some((name) => environment[name])) return undefined;
  const { proxyFor } = await import("../runtime/proxy.ts");
  return proxyFor(url, environment)?.href;
}

async function trustedRoots(world: World): Promise<string | undefined> {
  try {
    return await awsRoots(world);
  } catch (error) {
    throw error instanceof TrustInvalid ? new PluginFailure("BadSettings", error.message, { cause: error }) : error;
  }
}
