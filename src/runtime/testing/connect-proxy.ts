/** For tests: a forward proxy on a real socket, and a secure server that is reached only through it, whatever the name. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TestContext } from "node:test";
import { realWorld } from "../world.ts";
import { issueCertificate, type KeyPair } from "../x509.ts";

export interface Behind {
  /** `CONNECT host:port`, or the request line of a request that was forwarded; with the authorization for the proxy, if any. */
  readonly seen: string[];
  /** URL of the proxy. */
  readonly proxy: string;
  /** The authority that the server's certificate is of, in PEM. */
  readonly ca: string;
}

export interface BehindOptions {
  /** Names the server is known by. */
  readonly hosts: readonly string[];
  readonly answer: RequestListener;
  /** What the proxy answers to a CONNECT instead of opening a tunnel; `"nothing"` leaves it waiting. */
  readonly refuse?: number | "nothing";
  /** The proxy itself is reached over TLS. */
  readonly secureProxy?: boolean;
}

/** Starts both; they end with the test. */
export async function behindProxy(t: TestContext, { hosts, answer, refuse, secureProxy = false }: BehindOptions): Promise<Behind> {
  const authority = certificate("proxy-test-authority", [], undefined);
  const server = createSecureServer(certificate("server", hosts, authority), answer);
  const seen: string[] = [];
  const note = ({ method, url, headers }: IncomingMessage) =>
    seen.push([method, url, headers["proxy-authorization"]].filter(Boolean).join(" "));
  const forward: RequestListener = (request, response) => {
    note(request);
    answer(request, response);
  };
  const proxy: Server = secureProxy ? createSecureServer(certificate("proxy", ["127.0.0.1"], authority), forward) : createServer(forward);
  proxy.on("connect", (request: IncomingMessage, client: Duplex) => {
    note(request);
    client.on("error", () => {});
    if (refuse === "nothing") return;
    if (refuse !== undefined) {
      client.end(`HTTP/1.1 ${refuse} Refused\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const upstream = connect((server.address() as AddressInfo).port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(upstream).pipe(client);
    });
    upstream.on("error", () => client.destroy());
  });
  const sockets = new Set<Socket>();
  for (const each of [server, proxy]) {
    each.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    });
    each.listen(0, "127.0.0.1");
    await once(each, "listening");
  }
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    proxy.close();
  });
  return { seen, ca: authority.cert, proxy: `${secureProxy ? "https" : "http"}://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

function certificate(commonName: string, hosts: readonly string[], issuer: KeyPair | undefined): KeyPair {
  const { clock, random } = realWorld();
  const [notBefore, notAfter] = [-3_600_000, 3_600_000].map((ms) => new Date(clock.now() + ms)) as [Date, Date];
  const usage = issuer === undefined ? "authority" : "server";
  return issueCertificate(
    random,
    { commonName, hosts, usage, notBefore, notAfter },
    issuer && { ...issuer, commonName: "proxy-test-authority" },
  );
}
