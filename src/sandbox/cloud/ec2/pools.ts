/** Who holds which address: free ones are given out in ascending order, as a person reading the sandbox would expect. */
import type { Random } from "../../../runtime/world.ts";
import { ServiceError } from "../errors.ts";
import { type Block, blockOf, blockSize, contains, formatAddress, parseAddress, parseBlock } from "./cidr.ts";

/** The first four addresses and the last one of a subnet are AWS's own. */
const RESERVED_FIRST = 4n;
const RESERVED = 5n;
/** Addresses in a delegated /28. */
const PREFIX_SIZE = 16n;
/** Addresses set aside for benchmarks (RFC 2544): public in shape, nobody's in fact. */
const PUBLIC_BASE = parseAddress("198.18.0.0")!.value;
const PUBLIC_SIZE = 1n << 17n;

/** The addresses of all subnets, and the public ones. */
export class AddressPools {
  readonly #random: Random;
  readonly #undoable: (step: () => void) => void;
  readonly #used = new Map<string, Set<string>>();
  readonly #cursor = new Map<string, bigint>();
  readonly #public = new Set<string>();
  #publicCursor = 1n;

  /** `undoable` is told how to take back each change, should the call it belongs to be refused. */
  constructor(random: Random, undoable: (step: () => void) => void) {
    this.#random = random;
    this.#undoable = undoable;
  }

  /** How many IPv4 addresses of a subnet are left. */
  free(subnetId: string, cidr: string): number {
    return Number(blockSize(parseBlock(cidr)!) - RESERVED) - (this.#used.get(subnetId)?.size ?? 0);
  }

  /** The next free IPv4 address of a subnet, or the wished one. */
  take(subnetId: string, cidr: string, wished?: string): string {
    const block = parseBlock(cidr)!;
    const used = this.#setOf(subnetId);
    const last = blockSize(block) - 1n;
    if (wished !== undefined) {
      const wishedOffset = valueIn(block, wished) - block.value;
      if (wishedOffset < RESERVED_FIRST || wishedOffset === last) {
        throw new ServiceError("InvalidParameterValue", `Address ${wished} is in subnet's reserved address range`);
      }
      return this.#claim(used, wished);
    }
    if (this.free(subnetId, cidr) <= 0) {
      throw new ServiceError(
        "InsufficientFreeAddressesInSubnet",
        "The specified subnet does not have enough free addresses to satisfy the request.",
      );
    }
    for (let offset = this.#cursor.get(subnetId) ?? RESERVED_FIRST; ; offset++) {
      if (offset >= last) offset = RESERVED_FIRST;
      const address = formatAddress({ family: 4, value: block.value + offset });
      if (used.has(address)) continue;
      this.#cursor.set(subnetId, offset + 1n);
      return this.#claim(used, address);
    }
  }

  /** A random free IPv6 address of a subnet, or the wished one. */
  takeIpv6(subnetId: string, cidr: string, wished?: string): string {
    const block = parseBlock(cidr)!;
    const used = this.#setOf(`${subnetId}/6`);
    if (wished !== undefined) return this.#claim(used, formatAddress({ family: 6, value: valueIn(block, wished) }));
    for (;;) {
      const address = formatAddress({ family: 6, value: block.value | hostPart(this.#random) });
      if (!used.has(address)) return this.#claim(used, address);
    }
  }

  /** The lowest free /28 of a subnet, as EC2 delegates them. */
  takePrefix(subnetId: string, cidr: string): string {
    const block = parseBlock(cidr)!;
    const used = this.#setOf(subnetId);
    // The first sixteenth holds AWS's own addresses, and the last one the broadcast address.
    for (let base = block.value + PREFIX_SIZE; base + PREFIX_SIZE < block.value + blockSize(block); base += PREFIX_SIZE) {
      const addresses = prefixAddresses(base);
      if (addresses.some((address) => used.has(address))) continue;
      for (const address of addresses) this.#claim(used, address);
      return `${formatAddress({ family: 4, value: base })}/28`;
    }
    throw new ServiceError("InsufficientCidrBlocks", "There are not enough available CIDR blocks in the subnet to satisfy the request.");
  }

  /** A free /80 of a subnet. */
  takeIpv6Prefix(subnetId: string, cidr: string): string {
    const block = parseBlock(cidr)!;
    const used = this.#setOf(`${subnetId}/6`);
    for (let number = 1n; ; number++) {
      const prefix = `${formatAddress({ family: 6, value: block.value | (number << 48n) })}/80`;
      if (!used.has(prefix)) return this.#claim(used, prefix);
    }
  }

  /** Gives prefixes of a subnet back, of either family. */
  releasePrefixes(subnetId: string, prefixes: readonly string[]): void {
    for (const prefix of prefixes) {
      const block = parseBlock(prefix);
      if (block?.family === 6) this.#remove(this.#setOf(`${subnetId}/6`), prefix);
      else if (block !== undefined) this.release(subnetId, prefixAddresses(block.value));
    }
  }

  /** Gives addresses of a subnet back, of either family. */
  release(subnetId: string, addresses: readonly string[]): void {
    for (const address of addresses) this.#remove(this.#setOf(address.includes(":") ? `${subnetId}/6` : subnetId), address);
  }

  /** The next free public IPv4 address. */
  takePublic(): string {
    for (;;) {
      const address = formatAddress({ family: 4, value: PUBLIC_BASE + (this.#publicCursor++ % PUBLIC_SIZE) });
      if (this.#public.has(address) || address.endsWith(".0") || address.endsWith(".255")) continue;
      return this.#claim(this.#public, address);
    }
  }

  releasePublic(address: string): void {
    this.#remove(this.#public, address);
  }

  /** Amazon's own IPv6 space gives each VPC a /56. */
  takeIpv6Block(): string {
    const bytes = this.#random.bytes(3);
    const middle = (BigInt(bytes[0]!) << 8n) | BigInt(bytes[1]!);
    return `${formatAddress({ family: 6, value: (0x26001f18n << 96n) | (middle << 80n) | (BigInt(bytes[2]!) << 72n) })}/56`;
  }

  #claim(used: Set<string>, address: string): string {
    if (used.has(address)) throw new ServiceError("InvalidIPAddress.InUse", `Address ${address} is in use.`);
    used.add(address);
    this.#undoable(() => used.delete(address));
    return address;
  }

  #remove(used: Set<string>, address: string): void {
    if (used.delete(address)) this.#undoable(() => used.add(address));
  }

  #setOf(key: string): Set<string> {
    let used = this.#used.get(key);
    if (used === undefined) {
      used = new Set();
      this.#used.set(key, used);
    }
    return used;
  }
}

/** The number of an address that must lie in the block. */
function valueIn(block: Block, text: string): bigint {
  const address = parseAddress(text);
  const single = address && blockOf(address);
  if (single === undefined || !contains(block, single)) {
    throw new ServiceError("InvalidParameterValue", `Address ${text} does not fall within the subnet's address range`);
  }
  return single.value;
}

function prefixAddresses(base: bigint): string[] {
  return Array.from({ length: Number(PREFIX_SIZE) }, (_, index) => formatAddress({ family: 4, value: base + BigInt(index) }));
}

function hostPart(random: Random): bigint {
  return random.bytes(8).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}
