/** Addresses and blocks of both families, as numbers. */

/** A CIDR block of either family. */
export interface Block {
  readonly family: 4 | 6;
  /** The first address. */
  readonly base: bigint;
  readonly prefix: number;
  /** Whether the text had bits set behind the prefix. */
  readonly hostBits: boolean;
}

/** Parses `10.0.0.0/8` or `2001:db8::/32`; undefined when it is neither. */
export function parseBlock(text: string): Block | undefined {
  const [address, length, ...rest] = text.split("/");
  if (address === undefined || length === undefined || rest.length > 0 || !/^\d{1,3}$/.test(length)) return undefined;
  const parsed = parseAddress(address);
  const bits = parsed?.family === 4 ? 32 : 128;
  const prefix = Number(length);
  if (parsed === undefined || prefix > bits) return undefined;
  const hostMask = (1n << BigInt(bits - prefix)) - 1n;
  return { family: parsed.family, base: parsed.value & ~hostMask, prefix, hostBits: (parsed.value & hostMask) !== 0n };
}

/** Parses one address of either family. */
export function parseAddress(text: string): { readonly family: 4 | 6; readonly value: bigint } | undefined {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) {
    const octets = text.split(".").map(Number);
    if (octets.some((octet) => octet > 255)) return undefined;
    return { family: 4, value: octets.reduce((sum, octet) => (sum << 8n) | BigInt(octet), 0n) };
  }
  return parseIpv6(text);
}

function parseIpv6(text: string): { readonly family: 6; readonly value: bigint } | undefined {
  if (!/^[0-9a-fA-F:]+$/.test(text) || !text.includes(":")) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
  const given = groups.flat();
  if (given.some((group) => !/^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  if (halves.length === 1 ? given.length !== 8 : given.length > 7) return undefined;
  const zeros = Array.from({ length: 8 - given.length }, () => "0");
  const all = halves.length === 1 ? given : [...groups[0]!, ...zeros, ...groups[1]!];
  return { family: 6, value: all.reduce((sum, group) => (sum << 16n) | BigInt(Number.parseInt(group, 16)), 0n) };
}

/** The canonical text of a block, in network form. */
export function formatBlock(block: Block): string {
  return `${formatAddress(block.family, block.base)}/${block.prefix}`;
}

/** The canonical text of an address. */
export function formatAddress(family: 4 | 6, value: bigint): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  const text = groups.join(":");
  // The longest run of zero groups, of two at least, is written as `::`.
  const runs = [...text.matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)].sort((a, b) => b[0].length - a[0].length);
  const longest = runs[0];
  if (longest === undefined) return text;
  const before = text.slice(0, longest.index);
  const after = text.slice(longest.index + longest[0].length);
  return `${before}::${after.replace(/^:/, "")}`;
}

/** Whether the first block holds the whole second one. */
export function contains(outer: Block, inner: Block): boolean {
  if (outer.family !== inner.family || outer.prefix > inner.prefix) return false;
  const shift = BigInt((outer.family === 4 ? 32 : 128) - outer.prefix);
  return outer.base >> shift === inner.base >> shift;
}

/** Whether two blocks share an address. */
export function overlaps(a: Block, b: Block): boolean {
  return contains(a, b) || contains(b, a);
}

/** Number of addresses in a block. */
export function blockSize(block: Block): bigint {
  return 1n << BigInt((block.family === 4 ? 32 : 128) - block.prefix);
}
