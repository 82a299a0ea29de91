/**
 * Load balancers under their own names: a name server, and for each network load balancer an address of loopback that has the ports of its
 * listeners. The suite opens connections and sends datagrams to those itself, so nothing but the name can be put in between.
 */
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import type { LoopbackAddress } from "../../../src/sandbox/cloud/traffic/pods.ts";

/** Addresses of loopback, one per load balancer. Linux has all of 127.0.0.0/8; the process's id keeps processes apart. */
export class LoopbackAddresses {
  readonly #hasLowPorts: boolean;
  readonly #byName = new Map<string, string>();

  /** `hasLowPorts`: whether ports below 1024 may be opened; others listen where nobody finds them. */
  constructor(hasLowPorts: boolean) {
    this.#hasLowPorts = hasLowPorts;
  }

  /** For a data plane. Requests over HTTP come through the proxy, which finds every port. */
  readonly bind = ({ dnsName, port, protocol }: { readonly dnsName: string; readonly port: number; readonly protocol: string }) => {
    if (protocol.startsWith("HTTP")) return { host: "127.0.0.1", port: 0 };
    const host = this.#byName.get(dnsName) ?? own(this.#byName.size + 1);
    this.#byName.set(dnsName, host);
    return { host, port: port >= 1024 || this.#hasLowPorts ? port : 0 };
  };

  of(dnsName: string): string | undefined {
    return this.#byName.get(dnsName.toLowerCase());
  }
}

const own = (number: number) => `127.${64 + ((process.pid >> 8) % 128)}.${process.pid % 256}.${number}`;

/** Whether this machine lets us open ports below 1024. */
export async function hasLowPorts(): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(443, own(254), () => server.close(() => resolve(true)));
  });
}

/** Something open on this machine. */
export interface Open {
  readonly local: LoopbackAddress;
  close(): void;
}

/** Tells clients the addresses that `find` has for names. */
export function startNameServer(find: (name: string) => Promise<string | undefined>): Promise<Open> {
  return answerDatagrams(async (query) => {
    const address = await find(nameIn(query));
    return answerTo(query, address === undefined ? "no such name" : { address });
  });
}

export async function answerDatagrams(answer: (datagram: Buffer) => Promise<Buffer | string>): Promise<Open> {
  const socket = createSocket("udp4");
  socket.on("message", async (datagram, from) => socket.send(await answer(datagram), from.port, from.address));
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return { local: { host: "127.0.0.1", port: socket.address().port }, close: () => void socket.close() };
}

const headerLength = 12;
const typeA = 1;

/** The name that a query asks for: labels with their lengths before them, up to an empty one (RFC 1035, 4.1.2). */
function nameIn(query: Buffer): string {
  const labels: string[] = [];
  for (let at = headerLength; query[at]; at += query[at]! + 1) labels.push(query.toString("latin1", at + 1, at + 1 + query[at]!));
  return labels.join(".");
}

/** The question, and one address where that is what it asks for and there is one (RFC 1035, 4.1). */
export function answerTo(query: Buffer, found: "no such name" | { readonly address?: string }): Buffer {
  const questionEnd = query.indexOf(0, headerLength) + 5;
  const isForA = query.readUInt16BE(questionEnd - 4) === typeA;
  const address = found !== "no such name" && isForA ? found.address : undefined;
  const header = Buffer.alloc(headerLength);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(found === "no such name" ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(1, 4);
  if (address === undefined) return Buffer.concat([header, query.subarray(headerLength, questionEnd)]);
  header.writeUInt16BE(1, 6);
  // The name of the question, type A, class IN, not to be kept, four bytes.
  const record = Buffer.from([0xc0, headerLength, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]);
  return Buffer.concat([header, query.subarray(headerLength, questionEnd), record]);
}
