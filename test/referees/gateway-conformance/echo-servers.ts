/**
 * What the suite's Deployments run: its echo servers for requests, connections and datagrams, and a name server. They tell whoever asks
 * which pod they are. Each listens on loopback and stands for an address of the VPC.
 */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createSecureContext, createServer as createTlsServer, TLSSocket } from "node:tls";
import type { KubeObject } from "../../../src/kube/resource.ts";
import type { Probe } from "../../../src/sandbox/cloud/account.ts";
import type { Reach } from "../../../src/sandbox/cloud/traffic/front.ts";
import { type PodHandler, SimulatedPods } from "../../../src/sandbox/cloud/traffic/pods.ts";
import { answerDatagrams, answerTo, type Open } from "./names.ts";

export interface Deployment extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
      readonly spec?: {
        readonly containers?: readonly {
          readonly image?: string;
          readonly env?: readonly { readonly name: string; readonly value?: string }[];
        }[];
        readonly volumes?: readonly { readonly secret?: { readonly secretName?: string } }[];
      };
    };
  };
}

/** Who answers. */
interface Place {
  readonly namespace: string;
  readonly pod: string;
  readonly address: string;
}

/** A certificate and its key, in PEM. */
export interface Credentials {
  readonly cert: string;
  readonly key: string;
}

export class EchoServers {
  readonly #requests = new SimulatedPods();
  readonly #open = new Map<string, Open>();
  readonly #credentials: (namespace: string, secret: string) => Promise<Credentials>;

  constructor(credentials: (namespace: string, secret: string) => Promise<Credentials>) {
    this.#credentials = credentials;
  }

  /** Opens the ports of one pod of a Deployment, which its image and its environment tell. */
  async start({ spec }: Deployment, place: Place): Promise<void> {
    const { containers = [], volumes = [] } = spec?.template?.spec ?? {};
    const environment = new Map(containers.flatMap(({ env = [] }) => env.map(({ name, value }) => [name, value] as const)));
    const who = { namespace: place.namespace, ingress: "", service: environment.get("SERVICE_NAME") ?? "", pod: place.pod };
    const open = async (transport: "tcp" | "udp", port: number, opening: Promise<Open>) =>
      void this.#open.set(keyOf(transport, place.address, port), await opening);
    if (containers.some(({ image }) => image?.includes("coredns")))
      await open(
        "udp",
        53,
        answerDatagrams(async (query) => answerTo(query, {})),
      );
    else if (environment.has("UDP_ECHO_SERVER"))
      await open(
        "udp",
        8080,
        answerDatagrams(async (text) => JSON.stringify({ request: text.toString("utf8"), ...who })),
      );
    else if (environment.has("TCP_ECHO_SERVER")) {
      await open("tcp", 3000, openServer(createServer((socket) => converse(socket, who))));
      const secret = volumes.flatMap((volume) => volume.secret?.secretName ?? [])[0];
      if (secret !== undefined) await open("tcp", 8443, openServer(this.#tlsServer(place.namespace, secret, who)));
    } else for (const port of [3000, 8080]) await this.#requests.start(place.address, port, echo({ ...who, port }));
  }

  readonly reach: Reach = (target, transport = "tcp") =>
    this.#open.get(keyOf(transport, target.address, target.port))?.local ?? this.#requests.reach(target, transport);

  /** Health checks are connections. */
  readonly probe: Probe = (target) =>
    this.#open.has(keyOf("tcp", target.address, target.port)) ? { kind: "answered", status: 200 } : this.#requests.probe(target);

  async close(): Promise<void> {
    for (const { close } of this.#open.values()) close();
    await this.#requests.close();
  }

  /** The Secret is read with every connection: the suite makes it anew whenever it starts. */
  #tlsServer(namespace: string, secret: string, who: object): Server {
    return createTlsServer(
      {
        SNICallback: (_, done) => {
          this.#credentials(namespace, secret).then(
            (credentials) => done(null, createSecureContext(credentials)),
            (error: Error) => done(error),
          );
        },
      },
      (socket) => converse(socket, who),
    );
  }
}

const keyOf = (transport: "tcp" | "udp", address: string, port: number) => `${transport} ${address} ${port}`;

/** The request as it arrived, and who got it. */
function echo({ namespace, pod, port }: { readonly namespace: string; readonly pod: string; readonly port: number }): PodHandler {
  return ({ method, url, headers: { host = "", ...headers } }) => {
    const named = Object.entries(headers).map(([name, value]) => [canonicalName(name), [value]]);
    const body = { path: url, host, method, proto: "HTTP/1.1", headers: Object.fromEntries(named), httpPort: String(port), namespace, pod };
    return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  };
}

/** As Go writes names of headers. */
const canonicalName = (name: string) => name.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase());

/** A greeting, and an answer to each of the three words that the suite's server knows. */
function converse(socket: Socket, who: object): void {
  const isTLS = socket instanceof TLSSocket;
  const tls = isTLS ? { tls: { version: socket.getProtocol(), serverName: socket.servername, cipherSuite: socket.getCipher().name } } : {};
  const answers: Readonly<Record<string, string>> = {
    PING: "PONG",
    IS_TLS: String(isTLS),
    TEST: JSON.stringify({ ...who, isTLS, ...tls }),
  };
  socket.on("error", () => socket.destroy());
  socket.write("Gateway API Test TCP Server\n");
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    const lines = (text + chunk).split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) if (answers[line] !== undefined) socket.write(`${answers[line]}\n`);
  });
}

async function openServer(server: Server): Promise<Open> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { local: { host: "127.0.0.1", port: (server.address() as AddressInfo).port }, close: () => void server.close() };
}
