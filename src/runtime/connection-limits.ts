/**
 * Who may hold connections to the server of this process. Anybody can open them, and a full table must not shut out
 * kubelet's probe: a new connection is always let in, and where there is no room the oldest one goes of the peer that has
 * the most, those first that nobody has authenticated on.
 */
import type { Log } from "./log.ts";
import type { Clock } from "./world.ts";

/** What is needed of a socket. */
export interface PeerSocket {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  destroy(): unknown;
  once(event: "close", listener: () => void): unknown;
}

export interface ConnectionLimitOptions {
  readonly total: number;
  readonly perPeer: number;
}

interface Connection {
  readonly id: string;
  readonly socket: PeerSocket;
  readonly peer: string;
  authenticated: boolean;
  requests: number;
}

const quietMs = 60_000;

/** The connections that are open, oldest first. */
export class ConnectionLimits {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #options: ConnectionLimitOptions;
  readonly #open = new Map<string, Connection>();
  readonly #peers = new Map<string, number>();
  #saidAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, log: Log, options: ConnectionLimitOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /** A connection was accepted; it takes the place of another when there is none left. */
  admit(socket: PeerSocket): void {
    const peer = peerOf(socket);
    if ((this.#peers.get(peer) ?? 0) >= this.#options.perPeer) this.#makeRoom(peer);
    if (this.#open.size >= this.#options.total) this.#makeRoom(this.#largestPeer());
    const id = idOf(socket);
    // The number may be used again before the earlier connection was heard to close.
    const earlier = this.#open.get(id);
    if (earlier !== undefined) this.#forget(id, earlier.socket);
    this.#open.set(id, { id, socket, peer, authenticated: false, requests: 0 });
    this.#peers.set(peer, (this.#peers.get(peer) ?? 0) + 1);
    socket.once("close", () => this.#forget(id, socket));
  }

  /** A request on a connection is in work until the function that is returned is called. */
  request(socket: PeerSocket): () => void {
    const connection = this.#open.get(idOf(socket));
    if (connection === undefined) return () => {};
    connection.requests++;
    return () => {
      connection.requests--;
    };
  }

  /** Cuts all on which no request is in work. */
  closeIdle(): void {
    for (const { requests, socket } of [...this.#open.values()]) if (requests === 0) socket.destroy();
  }

  /** Somebody has shown who they are on this connection. */
  authenticated(socket: PeerSocket): void {
    const connection = this.#open.get(idOf(socket));
    if (connection !== undefined) connection.authenticated = true;
  }

  #makeRoom(peer: string): void {
    const own = [...this.#open.values()].filter((connection) => connection.peer === peer);
    const goes =
      own.find(({ authenticated, requests }) => !authenticated && requests === 0) ??
      own.find(({ authenticated }) => !authenticated) ??
      own.find(({ requests }) => requests === 0) ??
      own[0];
    if (goes === undefined) return;
    this.#forget(goes.id, goes.socket);
    goes.socket.destroy();
    if (this.#clock.monotonic() - this.#saidAt < quietMs) return;
    this.#saidAt = this.#clock.monotonic();
    this.#log.warn("too many connections to the secure port; closing the oldest ones of the peer that has the most", { peer });
  }

  /** By connections that nobody has authenticated on, or by all of them where there are no such. */
  #largestPeer(): string {
    const counts = new Map<string, number>();
    const strangers = [...this.#open.values()].filter(({ authenticated }) => !authenticated);
    for (const { peer } of strangers.length > 0 ? strangers : this.#open.values()) counts.set(peer, (counts.get(peer) ?? 0) + 1);
    let largest = { peer: "", count: 0 };
    // In the order of their oldest connection, which decides between equals.
    for (const [peer, count] of counts) if (count > largest.count) largest = { peer, count };
    return largest.peer;
  }

  #forget(id: string, socket: PeerSocket): void {
    const connection = this.#open.get(id);
    if (connection?.socket !== socket) return;
    this.#open.delete(id);
    const left = (this.#peers.get(connection.peer) ?? 1) - 1;
    if (left === 0) this.#peers.delete(connection.peer);
    else this.#peers.set(connection.peer, left);
  }
}

/** The same for a socket and for the TLS socket on top of it. */
function idOf({ remoteAddress, remotePort }: PeerSocket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** An address, or the network of an IPv6 one: a machine has as many addresses in it as it likes. */
function peerOf({ remoteAddress = "" }: PeerSocket): string {
  const address = remoteAddress.replace(/^::ffff:/i, "");
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter((group) => group !== "");
  if (tail !== undefined) while (groups.length < 4 && groups.length + tail.split(":").length < 8) groups.push("0");
  return groups.slice(0, 4).join(":");
}
