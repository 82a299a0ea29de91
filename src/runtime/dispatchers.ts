/** The pools of connections of one transport: one for what goes straight, one for each proxy. */
import { isIP } from "node:net";
import { createSecureContext } from "node:tls";
import { Agent, type buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";
import { parseAuthorities } from "./client-certificate.ts";
import type { SocketOptions } from "./http.ts";
import { rememberSecret } from "./known-secrets.ts";

/** A proxy first resolves and reaches the other side itself. */
const tunnelTimeoutMs = 10_000;

export class Dispatchers {
  readonly #options: SocketOptions;
  readonly #open = new Map<string, Dispatcher>();

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /** The pool for a URL, by the proxy if there is one. */
  async to(url: URL, proxy: URL | undefined): Promise<Dispatcher> {
    const { egress, tls } = this.#options;
    const needsRoots = (url.protocol === "https:" && tls?.ca === undefined && !tls?.insecure) || proxy?.protocol === "https:";
    const roots = egress !== undefined && needsRoots ? await egress.roots() : undefined;
    // Only secure connections have asked for the certificates, and must not share a pool that was made without.
    const key = `${proxy?.href ?? ""} ${needsRoots}`;
    let dispatcher = this.#open.get(key);
    if (dispatcher === undefined) {
      dispatcher = proxy === undefined ? this.#straight(roots) : this.#through(proxy, roots);
      this.#open.set(key, dispatcher);
    }
    return dispatcher;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((dispatcher) => dispatcher.destroy()));
  }

  #straight(roots: string | undefined): Dispatcher {
    return new Agent({ ...ourLimits, connect: { timeout: this.#options.connectTimeoutMs, ...this.#tls(roots) } });
  }

  #through(proxy: URL, roots: string | undefined): Dispatcher {
    const timeout = Math.max(this.#options.connectTimeoutMs, tunnelTimeoutMs);
    rememberSecret(decoded(proxy.password).toString());
    const uri = proxy.href.replace(/^socks5h:/, "socks5:");
    return new ProxyAgent({
      ...ourLimits,
      uri,
      ...(proxy.username !== "" && { token: basicCredentials(proxy) }),
      requestTls: { timeout, ...this.#tls(roots) },
      proxyTls: {
        timeout: this.#options.connectTimeoutMs,
        ...(roots === undefined ? {} : { secureContext: createSecureContext({ ca: readable(roots) }) }),
      },
      // A proxy that takes the connection and then says nothing is given up, whoever waits.
      clientFactory: (origin, options) => new Pool(origin, { ...options, connect: withoutAddressAsName(options), headersTimeout: timeout }),
    });
  }

  /** Certificates of the machine are parsed once, not for every connection: there are hundreds of them. */
  #tls(roots: string | undefined): object {
    const { tls } = this.#options;
    const own = { cert: tls?.cert, key: tls?.key };
    const trust =
      tls?.ca === undefined && roots !== undefined
        ? { secureContext: createSecureContext({ ...own, ca: readable(roots) }) }
        : { ca: tls?.ca === undefined ? undefined : readable(tls.ca), ...own };
    return { ...trust, servername: tls?.serverName, rejectUnauthorized: !tls?.insecure };
  }
}

/** OpenSSL reads a bundle up to the first certificate that it cannot read; Go passes over that one alone. */
function readable(bundle: string): string[] {
  return parseAuthorities(bundle).map(String);
}

/** By the bytes, as Go sends them: undici fails where they are not UTF-8 (`caf%E9`). */
function basicCredentials({ username, password }: URL): string {
  const credentials = Buffer.concat([decoded(username), Buffer.from(":"), decoded(password)]).toString("base64");
  rememberSecret(credentials);
  return `Basic ${credentials}`;
}

function decoded(text: string): Buffer {
  return Buffer.from(
    text.replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    "latin1",
  );
}

/** undici takes the host of a proxy for its name in TLS, also where it is an address, which Node refuses. */
function withoutAddressAsName(options: object): buildConnector.connector {
  const { connect } = options as { readonly connect: buildConnector.connector };
  return ({ servername, ...to }, done) => connect(servername === undefined || isIP(servername) ? to : { ...to, servername }, done);
}

const ourLimits = { connections: null, pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0 } as const;

/** The proxy would not or could not let a request through. The request was not sent. */
export class ProxyRefused extends Error {
  override readonly name = "ProxyRefused";
  readonly code = "PROXY_REFUSED";
}

/** Names the proxy in an error that came from it, without the credentials its URL may hold. */
export function explainProxy(error: unknown, proxy: URL, url: URL): unknown {
  const { code, message } = error as { readonly code?: unknown; readonly message?: string };
  const status = /Proxy response \((\d+)\)|Proxy Authentication Required \((407)\)/.exec(message ?? "");
  const ofProxy = status !== null || code === "UND_ERR_PRX_CONN" || code === "UND_ERR_PRX_TLS";
  if (!ofProxy) return error;
  const said = status === null ? (message ?? "failed") : `answered ${status[1] ?? status[2]}`;
  return new ProxyRefused(`the proxy at ${proxy.host} ${said} for ${url.host}`, { cause: error });
}
