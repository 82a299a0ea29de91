/** How requests leave the machine: which proxy they pass, and whose certificates are trusted. */
import type { Transport } from "../runtime/http.ts";
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
    const proxy = proxyFor(request.url, world.environment);
    const secure = request.url.protocol === "https:" || proxy?.startsWith("https:");
    if (secure) roots ??= trustedRoots(world);
    const ca = secure ? await roots : undefined;
    return await connect(request, { ...(proxy === undefined ? {} : { proxy }), ...(ca === undefined ? {} : { ca }) });
  };
}

/** The proxy for a URL, by the rules Go programs follow; undefined for none. Loopback is never proxied. */
export function proxyFor(url: URL, environment: World["environment"]): string | undefined {
  const variable = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = environment[variable] || environment[variable.toLowerCase()];
  if (!proxy) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (host === "localhost" || host === "::1" || host.startsWith("127.")) return undefined;
  const exceptions = (environment.NO_PROXY || environment.no_proxy || "").split(",").map((entry) => entry.trim().toLowerCase());
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  if (exceptions.some((entry) => entry !== "" && excepted(host, port, entry))) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function excepted(host: string, port: string, entry: string): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return inNetwork(host, entry);
  const [, name = "", entryPort] = /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(entry) ?? [];
  if (entryPort !== undefined && entryPort !== port) return false;
  const domain = name.replace(/^\*/, "");
  return domain.startsWith(".") ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}

/** IPv4 only: what matters here is 169.254.0.0/16 and its like, and AWS's names are not addresses. */
function inNetwork(host: string, network: string): boolean {
  const [base = "", bits = ""] = network.split("/");
  const [address, start] = [ipv4(host), ipv4(base)];
  if (address === undefined || start === undefined || !/^\d+$/.test(bits) || Number(bits) > 32) return false;
  const size = 2 ** (32 - Number(bits));
  return Math.floor(address / size) === Math.floor(start / size);
}

function ipv4(text: string): number | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return undefined;
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** Where Linux distributions keep the certificates they trust. */
const systemBundles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/cacert.pem",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** The machine's trusted certificates and those of `AWS_CA_BUNDLE`: isolated partitions and intercepting proxies need them. */
async function trustedRoots(world: World): Promise<string | undefined> {
  const { environment } = world;
  const system = await firstFile(world, environment.SSL_CERT_FILE ? [environment.SSL_CERT_FILE] : systemBundles);
  const bundle = environment.AWS_CA_BUNDLE;
  if (!bundle) return system;
  const extra = await firstFile(world, [bundle]);
  if (extra === undefined || !extra.includes("-----BEGIN CERTIFICATE-----")) {
    throw new PluginFailure("BadSettings", `failed to load custom CA bundle: no certificate can be read from ${bundle} (AWS_CA_BUNDLE)`);
  }
  return `${system ?? ""}\n${extra}`;
}

async function firstFile(world: World, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    try {
      return Buffer.from(await world.files.read(path)).toString("latin1");
    } catch {
      // The next distribution's place, then.
    }
  }
  return undefined;
}
