import { egressOf } from "../runtime/egress.ts";
import type { TlsOptions, Transport } from "../runtime/http.ts";
import { socketTransport } from "../runtime/http.ts";
import { rememberSecret } from "../runtime/known-secrets.ts";
import type { Clock, World } from "../runtime/world.ts";
import type { Access, KubeConfig } from "./config/access.ts";
import { Semaphore } from "./semaphore.ts";

/** The ways to one API server: a connection for every request that is in work, watches among them. */
export interface Connections {
  readonly send: Transport;
  close(): Promise<void>;
}

/** Opens the ways to the server; in simulation, to the embedded one. */
export type Connect = (tls: TlsOptions) => Connections;

const connectTimeoutMs = 5_000;

/** Over sockets, by the proxy that the environment names, as clients in Go go. */
export function socketConnections(world: World): Connect {
  const egress = egressOf(world);
  return (tls) => socketTransport({ tls, connectTimeoutMs, egress });
}

/**
 * Calls of one client in work at once, which keep an API server busy: more would wait there instead of here, each with a
 * connection, and their answers come in bursts that hold up the event loop.
 */
export const callsAtOnce = 16;

/** As many of them as are kept for each client that is derived: whatever hangs elsewhere, it goes on. */
export const callsOfItsOwn = 2;

/** Requests in flight on connections with a replaced certificate have this long to end. */
const drainMs = 60_000;

/** What a request is sent with. */
export interface Opened {
  readonly connections: Connections;
  readonly access: Access;
}

/** One identity towards the server. When its certificate or the authority rotates, new requests use new connections. */
export class Session {
  readonly config: KubeConfig;
  /** For calls that end; watches last, and take none. */
  readonly semaphore = new Semaphore({ shared: callsAtOnce - callsOfItsOwn, own: callsOfItsOwn });
  readonly #clock: Clock;
  readonly #connect: Connect;
  readonly #draining = new Map<Connections, () => void>();
  #authorization: string | undefined;
  #current: { readonly tls: string; readonly connections: Connections } | undefined;

  constructor(clock: Clock, config: KubeConfig, connect: Connect) {
    this.#clock = clock;
    this.config = config;
    this.#connect = connect;
  }

  /** The connections to use at this moment, and what to show. */
  async open(signal: AbortSignal): Promise<Opened> {
    const access = await this.config.access(signal);
    const { headers, tls } = access;
    if (headers.authorization !== this.#authorization) {
      this.#authorization = headers.authorization;
      rememberSecret(headers.authorization?.replace(/^\w+ /, ""));
    }
    const fingerprint = JSON.stringify(tls);
    if (this.#current?.tls !== fingerprint) {
      if (this.#current !== undefined) this.#drain(this.#current.connections);
      this.#current = { tls: fingerprint, connections: this.#connect(tls) };
    }
    return { connections: this.#current.connections, access };
  }

  async close(): Promise<void> {
    const open = [...this.#draining.keys()];
    for (const cancel of this.#draining.values()) cancel();
    this.#draining.clear();
    if (this.#current !== undefined) open.push(this.#current.connections);
    this.#current = undefined;
    await Promise.all(open.map((connections) => connections.close()));
  }

  #drain(connections: Connections): void {
    const cancel = this.#clock.after(drainMs, () => {
      this.#draining.delete(connections);
      void connections.close();
    });
    this.#draining.set(connections, cancel);
  }
}
