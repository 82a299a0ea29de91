/** The device names of an instance, and who has which: what EC2 shows, and what is promised to attachments under way. */
import type { Clock } from "../runtime/world.ts";

/** A disk at an instance. The card is known only where there is more than one. */
export interface Device {
  readonly name: string;
  readonly volumeId: string;
  readonly card: number | undefined;
}

/** A name chosen for a volume. */
export interface Choice {
  readonly name: string;
  readonly card: number | undefined;
  /** It has the name already, by EC2's account or by an earlier promise. */
  readonly assigned: boolean;
}

/**
 * The names in order of preference. The first 52 come first so that Xen instances, which take `sdb` and `xvdb` for the same,
 * never leave them; `xvda` is the root disk's, `xvdc?` are refused by EC2.
 */
const names: readonly string[] = [
  ...letters("a", "z").map((letter) => `/dev/xvda${letter}`),
  ...letters("a", "z").map((letter) => `/dev/xvdb${letter}`),
  ...letters("a", "x").map((letter) => `/dev/xvdd${letter}`),
  ...letters("b", "z").map((letter) => `/dev/xvd${letter}`),
  ...letters("b", "z").map((letter) => `/dev/sd${letter}`),
  "/dev/sda2",
];

/** EC2 says that a name is in use although it shows nobody who has it: the instance's system may hold it. */
const suspectedMs = 60 * 60_000;

export class NoFreeDevice extends Error {
  override readonly name = "NoFreeDevice";
}

export class DeviceNames {
  readonly #clock: Clock;
  readonly #promised = new Map<string, Map<string, Device>>();
  readonly #suspected = new Map<string, Map<string, number>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A name for a volume at a node, promised until it is released. `seen` is what EC2 shows of the node now. */
  choose(nodeId: string, volumeId: string, seen: readonly Device[], cards: number): Choice {
    const promised = [...(this.#promised.get(nodeId)?.values() ?? [])];
    const own = [...seen, ...promised].find((device) => device.volumeId === volumeId);
    if (own !== undefined) {
      this.#promise(nodeId, own);
      return { name: own.name, card: own.card, assigned: true };
    }
    const taken = new Set([...seen, ...promised].map(({ name }) => name));
    const free = names.filter((name) => !taken.has(name));
    const name = free.find((each) => !this.#isSuspected(nodeId, each)) ?? free[0];
    if (name === undefined) throw new NoFreeDevice(`could not get a free device name to assign to node ${nodeId}`);
    const card = leastUsedCard([...seen, ...promised], cards);
    this.#promise(nodeId, { name, volumeId, card });
    return { name, card, assigned: false };
  }

  /** The volume is attached for good, or is not going to be. */
  release(nodeId: string, volumeId: string): void {
    const promised = this.#promised.get(nodeId);
    promised?.delete(volumeId);
    if (promised?.size === 0) this.#promised.delete(nodeId);
  }

  /** EC2 refused the name as used: it is the last to be tried for a while. */
  suspect(nodeId: string, name: string): void {
    const suspected = this.#suspected.get(nodeId) ?? new Map<string, number>();
    suspected.set(name, this.#clock.monotonic());
    this.#suspected.set(nodeId, suspected);
  }

  /** EC2 took the name. */
  clear(nodeId: string, name: string): void {
    const suspected = this.#suspected.get(nodeId);
    suspected?.delete(name);
    if (suspected?.size === 0) this.#suspected.delete(nodeId);
  }

  #promise(nodeId: string, device: Device): void {
    const promised = this.#promised.get(nodeId) ?? new Map<string, Device>();
    promised.set(device.volumeId, device);
    this.#promised.set(nodeId, promised);
  }

  #isSuspected(nodeId: string, name: string): boolean {
    const since = this.#suspected.get(nodeId)?.get(name);
    if (since === undefined) return false;
    if (this.#clock.monotonic() - since < suspectedMs) return true;
    this.clear(nodeId, name);
    return false;
  }
}

/** The card with the fewest volumes; undefined where there is no choice. A volume that is both shown and promised counts once. */
function leastUsedCard(devices: readonly Device[], cards: number): number | undefined {
  if (cards <= 1) return undefined;
  const used = new Array<number>(cards).fill(0);
  for (const [, card] of new Map(devices.map(({ volumeId, card }) => [volumeId, card]))) {
    if (card !== undefined && card < cards) used[card]!++;
  }
  return used.indexOf(Math.min(...used));
}

function letters(from: string, to: string): string[] {
  const start = from.charCodeAt(0);
  return Array.from({ length: to.charCodeAt(0) - start + 1 }, (_, index) => String.fromCharCode(start + index));
}
