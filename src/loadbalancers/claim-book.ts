/**
 * Who needs what from the nodes, for all load balancers at once. Services write their claims here; the writer of each
 * node security group reads them all, and says when a group is as it should be.
 */
import { causeOf } from "../aws/errors.ts";
import type { LoadBalancer } from "./model.ts";
import type { Claim, Marks, Owners } from "./node-rules.ts";

/** One load balancer of one Service: while its kind is changed a Service has two. */
export interface Owner {
  /** Of the Service: `namespace/name`. */
  readonly key: string;
  readonly uid: string;
  readonly kind: LoadBalancer["kind"];
  readonly loadBalancer: string;
}

type Entry = { readonly owner: Owner } & (
  | { readonly kind: "claim"; readonly claim: Claim }
  | { readonly kind: "leaving"; readonly marks: Marks }
  /** It needs something that we could not find out: what its load balancers, under any of these names, use is held. */
  | { readonly kind: "unknown"; readonly names: readonly string[] }
);

export class ClaimBook {
  readonly #entries = new Map<string, Entry>();
  /** By node group: the owners who wait for it. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #troubles = new Map<string, { readonly cause: string; readonly why: string }>();
  #wakeWriter: (group: string) => void = () => {};
  #wakeOwner: (key: string) => void = () => {};

  /** Who is to be told which node groups have to be looked at. */
  onWork(wake: (group: string) => void): void {
    this.#wakeWriter = wake;
    for (const group of this.#waiting.keys()) wake(group);
  }

  /** Who is to be told that something was done, or failed, for a Service. */
  onSettled(wake: (key: string) => void): void {
    this.#wakeOwner = wake;
  }

  /** What a load balancer needs. Groups are looked at when this is news, or when asked to. */
  claim(owner: Owner, claim: Claim, groups: readonly string[], recheck: boolean): void {
    const before = this.#entries.get(idOf(owner));
    const same = before?.kind === "claim" && JSON.stringify(before.claim) === JSON.stringify(claim);
    const former = this.#takeFormer(owner);
    this.#entries.set(idOf(owner), { owner, kind: "claim", claim });
    if (same && former.length === 0 && !recheck) return;
    const left = before?.kind === "claim" ? before.claim.nodeGroups : [];
    this.#ask(owner, [...claim.nodeGroups, ...left, ...former.flatMap(({ nodeGroups }) => nodeGroups), ...groups]);
  }

  /** A load balancer goes: rules that only it needs have to go from these groups. */
  leave(owner: Owner, marks: Marks, groups: readonly string[]): void {
    const before = this.#entries.get(idOf(owner));
    const known = before?.kind === "claim" ? before.claim.marks : before?.kind === "leaving" ? before.marks : undefined;
    const sources = [...new Set([...marks.sources, ...(known?.sources ?? [])])];
    this.#entries.set(idOf(owner), { owner, kind: "leaving", marks: { descriptions: marks.descriptions, sources } });
    this.#ask(owner, groups);
  }

  /** Nothing is known of what it needs. What was known before still counts. */
  unknown(owner: Owner, names: readonly string[]): void {
    if (!this.#entries.has(idOf(owner))) this.#entries.set(idOf(owner), { owner, kind: "unknown", names });
  }

  forget(owner: Owner): void {
    this.#remove(idOf(owner));
  }

  knows(uid: string): boolean {
    return [...this.#entries.values()].some(({ owner }) => owner.uid === uid);
  }

  /** The node groups that are not yet as this owner needs them. */
  waitsFor(owner: Owner): readonly string[] {
    return [...this.#waiting].filter(([, owners]) => owners.has(idOf(owner))).map(([group]) => group);
  }

  /** Why one of these groups cannot be brought to its wanted state. */
  trouble(groups: readonly string[]): string | undefined {
    return groups.map((group) => this.#troubles.get(group)?.why).find((trouble) => trouble !== undefined);
  }

  owners(): Pick<Owners, "claims" | "leaving"> & { readonly unknown: readonly string[] } {
    const entries = [...this.#entries.values()];
    return {
      claims: entries.flatMap((entry) => (entry.kind === "claim" ? [entry.claim] : [])),
      leaving: entries.flatMap((entry) => (entry.kind === "leaving" ? [entry.marks] : [])),
      unknown: entries.flatMap((entry) => (entry.kind === "unknown" ? entry.names : [])),
    };
  }

  /** Those who wait for a group now: what is done next is done for them. */
  waitingFor(group: string): readonly string[] {
    return [...(this.#waiting.get(group) ?? [])];
  }

  /** The group is as they need it. Those who leave are told only of changes: they look again by themselves. */
  settled(group: string, owners: readonly string[], changed: boolean): void {
    this.#troubles.delete(group);
    const waiting = this.#waiting.get(group);
    for (const owner of owners) waiting?.delete(owner);
    if (waiting?.size === 0) this.#waiting.delete(group);
    this.#tell(owners.filter((id) => changed || this.#entries.get(id)?.kind !== "leaving"));
  }

  /** The group cannot be brought to its wanted state. The same cause again is no news: only its request id differs. */
  failed(group: string, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    const cause = causeOf(error);
    const news = this.#troubles.get(group)?.cause !== cause;
    this.#troubles.set(group, { cause, why });
    if (news) this.#tell(this.waitingFor(group));
  }

  /** What the Service needed for one of the same kind under another name: it has this one instead. */
  #takeFormer({ uid, kind, loadBalancer }: Owner): Claim[] {
    const former: Claim[] = [];
    for (const [id, entry] of this.#entries) {
      const { owner } = entry;
      if (entry.kind !== "claim" || owner.uid !== uid || owner.kind !== kind || owner.loadBalancer === loadBalancer) continue;
      this.#remove(id);
      former.push(entry.claim);
    }
    return former;
  }

  #remove(id: string): void {
    this.#entries.delete(id);
    for (const waiting of this.#waiting.values()) waiting.delete(id);
  }

  #ask(owner: Owner, groups: readonly string[]): void {
    for (const group of new Set(groups)) {
      const waiting = this.#waiting.get(group) ?? new Set();
      this.#waiting.set(group, waiting.add(idOf(owner)));
      this.#wakeWriter(group);
    }
  }

  #tell(owners: readonly string[]): void {
    for (const id of owners) {
      const entry = this.#entries.get(id);
      if (entry) this.#wakeOwner(entry.owner.key);
    }
  }
}

const idOf = ({ uid, kind, loadBalancer }: Owner) => `${uid} ${kind} ${loadBalancer}`;
