/**
 * Simulated pods: each answers requests on an address and port of the VPC. On virtual time nothing but health checks reaches them;
 * started, they are small HTTP servers on loopback that a data plane forwards to.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Probe, ProbeResult, ProbeTarget } from "../account.ts";
import type { Transport } from "../balancing/firewall.ts";

/** A request as a pod sees it. */
export interface PodRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a pod answers; one that is silent leaves whoever asks waiting. */
export type PodAnswer =
  | "silent"
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string; readonly grpcStatus?: number };

/** What runs in a pod. */
export type PodHandler = (request: PodRequest) => PodAnswer;

/** Where something listens on this machine. */
export interface LoopbackAddress {
  readonly host: string;
  readonly port: number;
}

/** A pod that tells who it is and what it was asked. */
export function echo(name: string): PodHandler {
  return ({ method, url, headers }) => ({
    status: 200,
    headers: { "content-type": "application/json", "x-pod": name },
    body: `${JSON.stringify({ pod: name, method, url, headers })}\n`,
  });
}

interface Pod {
  readonly handler: PodHandler;
  readonly server: Server | undefined;
}

/** The pods of a cluster, by address and port. */
export class SimulatedPods {
  readonly #pods = new Map<string, Pod>();

  /** Lets something answer at an address and port, or something else than before. */
  put(address: string, port: number, handler: PodHandler): void {
    const key = keyOf(address, port);
    this.#pods.set(key, { handler, server: this.#pods.get(key)?.server });
  }

  /** The same, behind a socket. */
  async start(address: string, port: number, handler: PodHandler): Promise<void> {
    const key = keyOf(address, port);
    const server = createServer((request, response) => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, [value].flat().join(", ")]));
      const current = this.#pods.get(key)?.handler ?? handler;
      const answer = current({ method: request.method ?? "GET", url: request.url ?? "/", headers });
      request.resume();
      if (answer !== "silent") response.writeHead(answer.status, { ...answer.headers }).end(answer.body ?? "");
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    this.#pods.set(key, { handler, server });
  }

  /** Ends what answers there; connections that are open are cut. */
  async stop(address: string, port: number): Promise<void> {
    const pod = this.#pods.get(keyOf(address, port));
    this.#pods.delete(keyOf(address, port));
    await closed(pod?.server);
  }

  /** Ends all of them. */
  async close(): Promise<void> {
    const pods = [...this.#pods.values()];
    this.#pods.clear();
    await Promise.all(pods.map(({ server }) => closed(server)));
  }

  /** Answers health checks of addresses as the pods there do; of instances it knows nothing. */
  readonly probe: Probe = (target: ProbeTarget): ProbeResult => {
    const pod = this.#pods.get(keyOf(target.address, target.port));
    if (pod === undefined) return { kind: "refused" };
    const answer = pod.handler({ method: "GET", url: target.path ?? "/", headers: { "user-agent": "ELB-HealthChecker/2.0" } });
    return answer === "silent" ? { kind: "silent" } : { kind: "answered", status: answer.status, ...grpc(answer) };
  };

  /** Where a started pod listens; for datagrams none does. */
  readonly reach = ({ address, port }: Pick<ProbeTarget, "address" | "port">, transport?: Transport): LoopbackAddress | undefined => {
    if (transport === "udp") return undefined;
    const server = this.#pods.get(keyOf(address, port))?.server;
    return server === undefined ? undefined : { host: "127.0.0.1", port: (server.address() as AddressInfo).port };
  };
}

function grpc({ grpcStatus }: Exclude<PodAnswer, "silent">): { grpcStatus?: number } {
  return grpcStatus === undefined ? {} : { grpcStatus };
}

function keyOf(address: string, port: number): string {
  return `${address} ${port}`;
}

function closed(server: Server | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (server === undefined) return resolve();
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
