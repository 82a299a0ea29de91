/** Addresses and CIDR blocks in the spellings that EC2 takes, which are fewer than Kubernetes takes. */
import * as ip from "../../../runtime/ip.ts";

export { contains, formatAddress, formatCidr as formatBlock, overlaps } from "../../../runtime/ip.ts";

/** A CIDR block of either family, host bits cleared. */
export type Block = ip.Cidr;

/** No dotted quad inside IPv6, which would be an IPv4 address in disguise. */
const spelling = /^(\d{1,3}(\.\d{1,3}){3}|[0-9a-fA-F:]+)$/;

/** Parses `10.0.0.0/8` or `2001:db8::/32`; undefined when it is neither. */
export function parseBlock(text: string): Block | undefined {
  return spelling.test(text.slice(0, text.lastIndexOf("/"))) ? ip.parseCidr(text) : undefined;
}

/** Parses one address of either family. */
export function parseAddress(text: string): ip.Address | undefined {
  return spelling.test(text) ? ip.parseAddress(text) : undefined;
}

/** The block of one address. */
export function blockOf(address: ip.Address): Block {
  return { ...address, prefix: address.family === 4 ? 32 : 128 };
}

/** Number of addresses in a block. */
export function blockSize(block: Block): bigint {
  return 1n << BigInt((block.family === 4 ? 32 : 128) - block.prefix);
}
