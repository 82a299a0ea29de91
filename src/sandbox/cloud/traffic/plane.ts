/**
 * The data plane: every listener of every load balancer of the account listens on loopback and does with requests, connections and datagrams
 * what the account says at that moment. Sockets follow the account when `sync` is called; what they do follows it at once.
 */
import { createSocket } from "node:dgram";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, TLSSocket } from "node:tls";
import type { Random } from "../../../runtime/world.ts";
import type { Transport } from "../balancing/firewall.ts";
import type { Cloud } from "../cloud.ts";
import { createElb, type Elb } from "../elb/state.ts";
import { createElbv2, type Elbv2 } from "../elbv2/state.ts";
import { classicFronts } from "./classic.ts";
import type { Front, Reach } from "./front.ts";
import { serveHttp } from "./http-front.ts";
import { modernFronts } from "./modern.ts";
import type { LoopbackAddress } from "./pods.ts";
import { type Source, serveConnection } from "./tcp-front.ts";
import { ServedCertificates } from "./tls.ts";
import { serveDatagrams } from "./udp-front.ts";

/** What a data plane is made with. */
export interface DataPlaneOptions {
  readonly cloud: Cloud;
  /** Keys of certificates come from it. */
  readonly random: Random;
  /** Where on this machine a target listens. */
  readonly reach: Reach;
  /** Where a port of a load balancer is to listen; left out, wherever there is room. */
  readonly bind?: (front: Pick<Front, "dnsName" | "port" | "protocol">) => LoopbackAddress;
}

interface Open {
  readonly front: Front;
  readonly local: LoopbackAddress;
  /** Connections that are open are cut. */
  close(): Promise<void>;
}

const anywhere: LoopbackAddress = { host: "127.0.0.1", port: 0 };

/** The sockets of one account. */
export class DataPlane {
  readonly #cloud: Cloud;
  readonly #elbv2: Elbv2;
  readonly #elb: Elb;
  readonly #reach: Reach;
  readonly #bind: NonNullable<DataPlaneOptions["bind"]>;
  readonly #certificates: ServedCertificates;
  readonly #open = new Map<string, Open>();
  readonly #turns = new Map<string, number>();

  constructor({ cloud, random, reach, bind = () => anywhere }: DataPlaneOptions) {
    this.#cloud = cloud;
    this.#elbv2 = createElbv2(cloud.account);
    this.#elb = createElb(cloud.account);
    this.#reach = reach;
    this.#bind = bind;
    this.#certificates = new ServedCertificates(cloud.account, random);
  }

  /** What clients of HTTPS and TLS listeners have to trust, in PEM. */
  get authority(): string {
    return this.#certificates.authority;
  }

  /** Opens sockets for listeners that are new, and closes those of listeners that are gone. */
  async sync(): Promise<void> {
    this.#cloud.account.time.settle();
    const wanted = new Map(this.#fronts().map((front) => [front.key, front]));
    const gone = [...this.#open].filter(([key]) => !wanted.has(key));
    await Promise.all(gone.map(([key]) => this.#close(key)));
    for (const [key, front] of wanted) if (!this.#open.has(key)) this.#open.set(key, { front, ...(await this.#listen(front)) });
  }

  /** Where a port of a load balancer listens on this machine, by its DNS name. */
  addressOf(dnsName: string, port: number, transport: Transport = "tcp"): LoopbackAddress | undefined {
    const isIt = ({ front }: Open) => front.dnsName === dnsName.toLowerCase() && front.port === port && transportOf(front) === transport;
    return this.#open.values().find(isIt)?.local;
  }

  /** Every open port, for those who look around. */
  ports(): readonly { readonly dnsName: string; readonly port: number; readonly protocol: string; readonly local: LoopbackAddress }[] {
    return [...this.#open.values()].map(({ front, local }) => ({
      dnsName: front.dnsName,
      port: front.port,
      protocol: transportOf(front) === "udp" ? "UDP" : front.protocol,
      local,
    }));
  }

  /** Closes everything; connections that are open are cut. */
  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((key) => this.#close(key)));
  }

  #fronts(): readonly Front[] {
    const shared = {
      reach: this.#reach,
      turn: (key: string) => this.#turns.get(key) ?? 0,
      used: (keys: readonly string[]) => {
        for (const key of keys) this.#turns.set(key, (this.#turns.get(key) ?? 0) + 1);
      },
      addressOf: (dnsName: string, port: number) => this.addressOf(dnsName, port),
    };
    return [...modernFronts(this.#elbv2, shared), ...classicFronts(this.#elb, shared)];
  }

  #listen(front: Front): Promise<Omit<Open, "front">> {
    const { serving } = front;
    const at = this.#bind(front);
    if (serving.kind !== "udp") return openServer(this.#serverFor(front), at);
    const decide = (source: Source) => {
      this.#cloud.account.time.settle();
      return serving.decide(source);
    };
    return openDatagrams(decide, at);
  }

  #serverFor(front: Front): Server {
    const { serving } = front;
    const settle = () => this.#cloud.account.time.settle();
    const secure = {
      SNICallback: (host: string, done: (error: Error | null, context: ReturnType<ServedCertificates["choose"]>) => void) =>
        done(null, this.#certificates.choose(front.certificates(), host)),
      // Whether a certificate must be shown is decided with the listener; whom it is from, nobody here can judge.
      requestCert: front.clientCertificates !== "off",
      rejectUnauthorized: false,
    };
    if (serving.kind === "http") {
      const serve = (...[incoming, response]: Parameters<Parameters<typeof createHttpServer>[1] & {}>) => {
        settle();
        if (front.clientCertificates === "verify" && !showsCertificate(incoming.socket)) incoming.socket.destroy();
        else serveHttp(serving.routing(), incoming, response);
      };
      return front.secure ? createHttpsServer({ ...secure, ...this.#fallback(front) }, serve) : createHttpServer(serve);
    }
    const pass = (socket: Socket) => {
      settle();
      serveConnection(serving.decide, socket);
    };
    return front.secure ? createTlsServer({ ...secure, ...this.#fallback(front) }, pass) : createServer(pass);
  }

  /** For clients that name no host. */
  #fallback(front: Front): { readonly cert: string; readonly key: string } {
    return this.#certificates.material(front.certificates()[0] ?? "");
  }

  async #close(key: string): Promise<void> {
    const open = this.#open.get(key);
    this.#open.delete(key);
    await open?.close();
  }
}

const transportOf = ({ serving }: Front): Transport => (serving.kind === "udp" ? "udp" : "tcp");

async function openServer(server: Server, at: LoopbackAddress): Promise<Omit<Open, "front">> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(at.port, at.host, resolve);
  });
  return {
    local: { host: at.host, port: (server.address() as AddressInfo).port },
    close() {
      const ended = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      return ended;
    },
  };
}

async function openDatagrams(decide: (source: Source) => LoopbackAddress | undefined, at: LoopbackAddress): Promise<Omit<Open, "front">> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(at.port, at.host, resolve);
  });
  serveDatagrams(decide, socket);
  return {
    local: { host: at.host, port: socket.address().port },
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}

function showsCertificate(socket: Socket): boolean {
  return socket instanceof TLSSocket && Object.keys(socket.getPeerCertificate()).length > 0;
}
