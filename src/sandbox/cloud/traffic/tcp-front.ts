/** Connections in front of targets, passed on byte by byte. */
import { connect, type Socket } from "node:net";
import type { LoopbackAddress } from "./pods.ts";

/** Where a connection, or a datagram, came from. */
export interface Source {
  readonly sourceIp: string;
  readonly sourcePort: number;
}

/** Passes a connection on to where `decide` says, and ends it where that is nowhere. */
export function serveConnection(decide: (source: Source) => LoopbackAddress | undefined, incoming: Socket): void {
  const source = { sourceIp: (incoming.remoteAddress ?? "").replace(/^::ffff:/, ""), sourcePort: incoming.remotePort ?? 0 };
  const to = decide(source);
  incoming.on("error", () => incoming.destroy());
  if (to === undefined) {
    incoming.destroy();
    return;
  }
  const outgoing = connect(to);
  outgoing.once("error", () => incoming.destroy());
  outgoing.once("close", () => incoming.destroy());
  incoming.once("close", () => outgoing.destroy());
  incoming.pipe(outgoing).pipe(incoming);
}
