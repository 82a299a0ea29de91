/** Which proxy a request passes, by the rules that Go programs follow (golang.org/x/net/http/httpproxy). */
import { type Address, type Cidr, contains, parseAddress, parseCidr, sameAddress } from "./ip.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The URL of the proxy for a request; undefined to go straight. Loopback is never proxied. */
export function proxyFor(url: URL, environment: Environment): URL | undefined {
  const either = (name: string) => environment[name] || environment[name.toLowerCase()];
  const given = either(url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY");
  const proxy = given ? parseProxy(given) : undefined;
  if (proxy === undefined) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const address = parseAddress(host);
  if (host === "localhost" || (address !== undefined && loopback.some((cidr) => isWithin(cidr, address)))) return undefined;
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const exceptions = (either("NO_PROXY") ?? "").split(",").map((entry) => entry.trim().toLowerCase());
  return exceptions.some((entry) => isExcepted(entry, host, address, port)) ? undefined : proxy;
}

const loopback: readonly Cidr[] = [parseCidr("127.0.0.0/8")!, parseCidr("::1/128")!];

/** `host:port` is taken for HTTP; what is no URL at all is as if it were not set. */
function parseProxy(text: string): URL | undefined {
  // `user:50%off@proxy` cannot be decoded.
  if (/%(?![0-9a-f]{2})/i.test(text)) return undefined;
  const candidates = [text, `http://${text}`].map((candidate) => (URL.canParse(candidate) ? new URL(candidate) : undefined));
  return candidates.find((url) => url !== undefined && url.host !== "");
}

/**
 *     *                                      everything
 *     10.0.0.0/8, fd00::/8                   addresses of the network, on any port
 *     10.1.2.3, 10.1.2.3:6443, [fd00::1]:1   the address, on that port if one is named
 *     example.com, example.com:443           the name and everything below it
 *     .example.com, *.example.com            everything below it
 */
function isExcepted(entry: string, host: string, address: Address | undefined, port: string): boolean {
  if (entry === "") return false;
  if (entry === "*") return true;
  const network = parseCidr(entry);
  if (network !== undefined) return address !== undefined && isWithin(network, address);
  const [name, onlyPort] = portApart(entry);
  if (name === "" || (onlyPort !== "" && onlyPort !== port)) return false;
  const named = parseAddress(name);
  if (named !== undefined || address !== undefined) {
    return named !== undefined && address !== undefined && sameAddress(named, address);
  }
  const domain = name.startsWith("*.") ? name.slice(1) : name;
  return domain.startsWith(".") ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}

/** Host and port of an entry; without brackets a second colon makes it an address of IPv6 and no port. */
function portApart(entry: string): readonly [host: string, port: string] {
  const [, bracketed, plain, port] = /^(?:\[([^\][]*)\]|([^:\][]*)):([^:]*)$/.exec(entry) ?? [];
  return port === undefined ? [entry, ""] : [bracketed ?? plain ?? "", port];
}

function isWithin(network: Cidr, address: Address): boolean {
  return contains(network, { ...address, prefix: address.family === 4 ? 32 : 128 });
}
