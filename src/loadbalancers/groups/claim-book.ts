/**
 * Who needs what from the nodes, for all load balancers at once: one book for a process. Every door writes down what its
 * owners need and says whether all of them have spoken; the one writer of node security groups reads it all, and says when
 * a group is as it should be.
 */

import type { LoadBalancerKind } from "../kind.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import { GroupWaits, type Waits } from "./group-waits.ts";
import { type Claim, distinct, type Marks, type Owners } from "./node-rules.ts";

/**
 * One of the load balancers that somebody may have, one of each kind: while its kind is changed there are two. What they
 * are called is no part of who they are: a claim under a new name takes the place of whatever was written down under the
 * old one.
 */
export interface Claimant extends Pick<LoadBalancerOwner, "door" | "key" | "uid"> {
  readonly kind: LoadBalancerKind;
}

/** Who makes claims: a front door, as far as the book knows it. */
export interface Door {
  readonly name: string;
  /** Whether each of its owners that needs something has said so, or that it is not known. */
  hasSpoken(): boolean;
}

type Entry = { readonly owner: Claimant } & (
  | { readonly kind: "claim"; readonly claim: Claim }
  | { readonly kind: "leaving"; readonly marks: Marks }
  /** It needs something that we could not find out: what a load balancer of its kind, under any of these names, uses is held. */
  | { readonly kind: "unknown"; readonly names: readonly string[] }
);

/** Load balancers that may stand and whose needs are not known. */
export interface Unknown {
  readonly kind: LoadBalancerKind;
  readonly names: readonly string[];
}

export interface ClaimOptions {
  /** Groups to look at besides those of the nodes behind it. */
  readonly groups: readonly string[];
  /** Have the groups looked at even if the claim is no news. */
  readonly recheck: boolean;
  /** The owner's load balancer of another kind, while it has one. */
  readonly other?: { readonly kind: LoadBalancerKind; readonly name: string };
}

/** What a load balancer will need once the steps under way are carried out. */
interface Upcoming {
  readonly claim: Claim;
  /** Some steps were carried out and others were not: it may need this already. */
  readonly due: boolean;
}

export class ClaimBook {
  readonly #entries = new Map<string, Entry>();
  readonly #upcoming = new Map<string, Upcoming>();
  /** Which entries there are of an owner, by its UID and then by the name of the kind. */
  readonly #byUid = new Map<string, Map<string, Claimant>>();
  readonly #doors: Door[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #waits = new GroupWaits();
  /** By door. */
  readonly #wakeOwner = new Map<string, (key: string) => void>();

  /** From now on nothing is complete without this door. */
  join(door: Door): void {
    this.#doors.push(door);
  }

  /** Whether everybody has said what they need. Before anybody could, nobody has. */
  get isComplete(): boolean {
    return this.#doors.length > 0 && this.#doors.every((door) => door.hasSpoken());
  }

  /** Who is to be told which node groups have to be looked at. */
  onWork(wake: (group: string) => void): void {
    this.#waits.onWork(wake);
  }

  /** Who is to be told that something was done, or failed, for an owner that came in by this door. */
  onSettled(door: string, wake: (key: string) => void): void {
    this.#wakeOwner.set(door, wake);
  }

  /** Who is to be told of every change of what somebody needs, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What a load balancer needs. Groups are looked at when this is news, or when asked to. */
  claim(owner: Claimant, claim: Claim, { groups, recheck, other }: ClaimOptions): void {
    const id = idOf(owner);
    const before = this.#entries.get(id);
    this.#set({ owner, kind: "claim", claim });
    this.#noteOther(owner, other);
    const upcoming = this.#upcoming.get(id);
    this.#upcoming.delete(id);
    // What was granted only because a change had stopped half-way may be needed no more.
    const same = before?.kind === "claim" && isSame(before.claim, claim) && upcoming?.due !== true;
    if (same && !recheck) return;
    // What kept the groups from the former claim need not keep them from this one.
    if (!same) this.#waits.startOver(id);
    const left = before?.kind === "claim" ? before.claim.nodeGroups : [];
    this.#waits.ask(id, [...claim.nodeGroups, ...left, ...(upcoming?.claim.nodeGroups ?? []), ...groups]);
  }

  /**
   * The load balancer is about to be changed, and will need this then. Until its claim is made nothing of it is taken away,
   * whoever else has no more use for it; and nothing is granted yet.
   */
  expect(owner: Claimant, claim: Claim): void {
    const id = idOf(owner);
    const before = this.#upcoming.get(id);
    // After a change that stopped half-way, what that one would have needed may be needed too.
    const expected = before?.due ? both(before.claim, claim) : claim;
    if (isSame(before?.claim, expected)) return;
    this.#upcoming.set(id, { claim: expected, due: false });
    this.#announce();
  }

  /** The change stopped half-way: what was expected may be needed already, and what was claimed before may be needed still. */
  stopped(owner: Claimant): void {
    const id = idOf(owner);
    const upcoming = this.#upcoming.get(id);
    if (upcoming === undefined || upcoming.due) return;
    this.#upcoming.set(id, { ...upcoming, due: true });
    this.#announce();
    this.#waits.ask(id, upcoming.claim.nodeGroups);
  }

  /**
   * A load balancer goes: rules that only it needs have to go from these groups. What it asked for until now may be on its
   * way to others: each of those is looked at once more, and nothing that was begun before counts as that look.
   */
  leave(owner: Claimant, marks: Marks, groups: readonly string[]): void {
    const id = idOf(owner);
    const before = this.#entries.get(id);
    const asked = before?.kind === "claim" ? [...before.claim.nodeGroups, ...this.waitsFor(owner.uid, [owner.kind])] : [];
    if (before?.kind === "claim") this.#waits.startOver(id);
    const known = before?.kind === "claim" ? before.claim.marks : before?.kind === "leaving" ? before.marks : undefined;
    const sources = [...new Set([...marks.sources, ...(known?.sources ?? [])])];
    const upcoming = this.#upcoming.get(id);
    this.#upcoming.delete(id);
    this.#set({ owner, kind: "leaving", marks: { descriptions: marks.descriptions, sources } });
    this.#waits.ask(id, [...groups, ...asked, ...(upcoming?.claim.nodeGroups ?? [])]);
  }

  /** Nothing is known of what an owner needs. What was known before still counts. */
  unknown({ door, key, uid, kinds }: Pick<LoadBalancerOwner, "door" | "key" | "uid" | "kinds">, names: readonly string[]): void {
    if (this.knows(uid)) return;
    for (const kind of kinds) this.#set({ owner: { door, key, uid, kind }, kind: "unknown", names });
  }

  forget(owner: Pick<Claimant, "uid" | "kind">): void {
    const { uid, kind } = owner;
    this.#entries.delete(idOf(owner));
    this.#upcoming.delete(idOf(owner));
    const left = this.#byUid.get(uid);
    left?.delete(kind.name);
    if (left?.size === 0) this.#byUid.delete(uid);
    this.#waits.forget(idOf(owner));
  }

  knows(uid: string): boolean {
    return this.#byUid.has(uid);
  }

  /** Whether it is known of an owner that none of its load balancers needs anything any more. */
  isLeaving(uid: string): boolean {
    const ids = this.#idsOf(uid);
    return ids.length > 0 && ids.every((id) => this.#entries.get(id)?.kind === "leaving");
  }

  /** The node groups that are not yet as this owner's load balancers, of these kinds or of any, need them. */
  waitsFor(uid: string, of?: readonly Pick<LoadBalancerKind, "name">[]): readonly string[] {
    const ids = this.#idsOf(uid).filter((id) => of === undefined || of.some(({ name }) => id === `${uid} ${name}`));
    return this.#waits.groupsOf(ids);
  }

  /** Why one of the groups that this owner waits for cannot be brought to what it needs. */
  trouble(uid: string): string | undefined {
    return this.#waits.troubleOf(this.#idsOf(uid));
  }

  owners(): Pick<Owners, "claims" | "upcoming" | "leaving"> & { readonly unknown: readonly Unknown[] } {
    const entries = [...this.#entries];
    const claims = new Map(entries.flatMap(([id, entry]) => (entry.kind === "claim" ? [[id, entry.claim] as const] : [])));
    for (const [id, { claim, due }] of this.#upcoming) if (due) claims.set(id, both(claims.get(id), claim));
    return {
      claims,
      upcoming: [...this.#upcoming.values()].map(({ claim }) => claim),
      leaving: entries.flatMap(([, entry]) => (entry.kind === "leaving" ? [entry.marks] : [])),
      unknown: entries.flatMap(([, entry]) => (entry.kind === "unknown" ? [{ kind: entry.owner.kind, names: entry.names }] : [])),
    };
  }

  /** Those who wait for a group now: what is done next is done for them. */
  waitingFor(group: string): Waits {
    return this.#waits.waitingFor(group);
  }

  /** The group is as they need it. Those who leave are told only of changes: they look again by themselves. */
  settled(group: string, waits: Waits, changed: boolean): void {
    const over = this.#waits.settle(group, waits);
    this.#tell(over.filter((id) => changed || this.#entries.get(id)?.kind !== "leaving"));
  }

  /** The group cannot be brought to what these need. */
  failed(group: string, owners: readonly string[], error: unknown): void {
    const concerned = owners.filter((id) => this.#entries.has(id));
    this.#tell(this.#waits.fail(group, concerned, error));
  }

  /** An owner that says what it needs knows whether it has a second load balancer, and what it is called. */
  #noteOther({ door, key, uid, kind }: Claimant, other: ClaimOptions["other"]): void {
    for (const owner of [...(this.#byUid.get(uid)?.values() ?? [])]) {
      const entry = this.#entries.get(idOf(owner));
      if (owner.kind.name === kind.name || owner.kind.name === other?.kind.name) continue;
      if (entry?.kind === "unknown") this.forget(owner);
    }
    if (other === undefined) return;
    const owner: Claimant = { door, key, uid, kind: other.kind };
    const entry = this.#entries.get(idOf(owner));
    if (entry === undefined || entry.kind === "unknown") this.#set({ owner, kind: "unknown", names: [other.name] });
  }

  #set(entry: Entry): void {
    const { uid, kind } = entry.owner;
    this.#entries.set(idOf(entry.owner), entry);
    const claimants = this.#byUid.get(uid) ?? new Map<string, Claimant>();
    this.#byUid.set(uid, claimants.set(kind.name, entry.owner));
    this.#announce();
  }

  #announce(): void {
    for (const listener of this.#listeners) listener();
  }

  #idsOf(uid: string): readonly string[] {
    return [...(this.#byUid.get(uid)?.values() ?? [])].map(idOf);
  }

  #tell(owners: readonly string[]): void {
    for (const id of owners) {
      const entry = this.#entries.get(id);
      if (entry) this.#wakeOwner.get(entry.owner.door)?.(entry.owner.key);
    }
  }
}

const idOf = ({ uid, kind }: Pick<Claimant, "uid" | "kind">) => `${uid} ${kind.name}`;

/** A load balancer between two claims. */
function both(before: Claim | undefined, after: Claim): Claim {
  if (before === undefined) return after;
  return {
    nodeGroups: union(before.nodeGroups, after.nodeGroups),
    rules: distinct([...after.rules, ...before.rules]),
    marks: {
      descriptions: union(before.marks.descriptions, after.marks.descriptions),
      sources: union(before.marks.sources, after.marks.sources),
    },
    former: after.former,
  };
}

const union = (some: readonly string[], others: readonly string[]) => [...new Set([...some, ...others])];

const isSame = (one: Claim | undefined, other: Claim) => JSON.stringify(one) === JSON.stringify(other);
