/** IP addresses and CIDR blocks as values that compare: IPv4 and IPv6, canonical text out, whatever spelling in. */

export interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
}

export interface Cidr {
  readonly family: 4 | 6;
  /** The network address: host bits cleared. */
  readonly value: bigint;
  readonly prefix: number;
}

const bits = (family: 4 | 6) => (family === 4 ? 32 : 128);

/**
 * An address from its text, or undefined. IPv4 octets may carry leading zeros, read as decimal: Kubernetes accepts them
 * in stored objects. An IPv4-mapped IPv6 address is the IPv4 address it stands for, as in Go's net package.
 */
export function parseAddress(text: string): Address | undefined {
  const v4 = parseIpv4(text);
  if (v4 !== undefined) return { family: 4, value: v4 };
  const v6 = parseIpv6(text);
  if (v6 === undefined) return undefined;
  return v6 >> 32n === 0xffffn ? { family: 4, value: v6 & 0xffffffffn } : { family: 6, value: v6 };
}

/** Canonical text: dotted quad, or RFC 5952 for IPv6. */
export function formatAddress(address: Address): string {
  if (address.family === 4) return [24n, 16n, 8n, 0n].map((shift) => (address.value >> shift) & 0xffn).join(".");
  const groups = Array.from({ length: 8 }, (_, i) => ((address.value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  const run = longestZeroRun(groups);
  if (!run) return groups.join(":");
  return `${groups.slice(0, run.start).join(":")}::${groups.slice(run.start + run.length).join(":")}`;
}

export function sameAddress(a: Address, b: Address): boolean {
  return a.family === b.family && a.value === b.value;
}

/** A block from its text (`10.0.0.0/16`), host bits cleared; undefined when it is none. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.lastIndexOf("/");
  const address = slash < 0 ? undefined : parseAddress(text.slice(0, slash));
  const prefixText = text.slice(slash + 1);
  if (!address || !/^\d{1,3}$/.test(prefixText)) return undefined;
  const prefix = Number(prefixText);
  if (prefix > bits(address.family)) return undefined;
  return enclosing({ ...address, prefix }, prefix);
}

export function formatCidr(cidr: Cidr): string {
  return `${formatAddress(cidr)}/${cidr.prefix}`;
}

/** Whether all of `inner` lies within `outer`. */
export function contains(outer: Cidr, inner: Cidr): boolean {
  if (outer.family !== inner.family || inner.prefix < outer.prefix) return false;
  const hostBits = BigInt(bits(outer.family) - outer.prefix);
  return inner.value >> hostBits === outer.value >> hostBits;
}

/** The block of this shorter prefix around a block. */
export function enclosing({ family, value }: Cidr, prefix: number): Cidr {
  const hostBits = BigInt(bits(family) - prefix);
  return { family, value: (value >> hostBits) << hostBits, prefix };
}

/** Whether the two blocks share any address. */
export function overlaps(a: Cidr, b: Cidr): boolean {
  return contains(a, b) || contains(b, a);
}

/** Whether the block holds the address. */
export function holds(cidr: Cidr, address: Address): boolean {
  return contains(cidr, { ...address, prefix: bits(address.family) });
}

function parseIpv4(text: string): bigint | undefined {
  const octets = text.split(".");
  if (octets.length !== 4) return undefined;
  let value = 0n;
  for (const octet of octets) {
    if (!/^\d{1,5}$/.test(octet) || Number(octet) > 255) return undefined;
    value = (value << 8n) | BigInt(octet);
  }
  return value;
}

function parseIpv6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2 || !text.includes(":")) return undefined;
  const head = groupsOf(halves[0] ?? "");
  const tail = halves.length === 2 ? groupsOf(halves[1] ?? "") : [];
  if (!head || !tail) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  return [...head, ...new Array<number>(missing).fill(0), ...tail].reduce((value, group) => (value << 16n) | BigInt(group), 0n);
}

/** The 16-bit groups of one side of `::`; a dotted quad may stand for the last two. */
function groupsOf(text: string): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    const quad = index === parts.length - 1 && part.includes(".") ? parseIpv4(part) : undefined;
    if (quad !== undefined) groups.push(Number(quad >> 16n), Number(quad & 0xffffn));
    else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

function longestZeroRun(groups: readonly string[]): { start: number; length: number } | undefined {
  let best: { start: number; length: number } | undefined;
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === "0") length++;
    if (length > Math.max(best?.length ?? 0, 1)) best = { start, length };
  }
  return best;
}
