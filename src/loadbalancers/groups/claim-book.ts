/**
 * Who needs what from the nodes, for all load balancers at once. Services write their claims here; the writer of each
 * node security group reads them all, and says when a group is as it should be.
 */
import { causeOf } from "../../aws/errors.ts";
import type { LoadBalancer } from "../model.ts";
import type { Claim, Marks, Owners } from "./node-rules.ts";

type Kind = LoadBalancer["kind"];

/**
 * One of the two load balancers that a Service may have: while its kind is changed it has both. What they are called is
 * no part of who they are: a claim under a new name takes the place of whatever was written down under the old one.
 */
export interface Owner {
  /** Of the Service: `namespace/name`. */
  readonly key: string;
  readonly uid: string;
  readonly kind: Kind;
}

type Entry = { readonly owner: Owner } & (
  | { readonly kind: "claim"; readonly claim: Claim }
  | { readonly kind: "leaving"; readonly marks: Marks }
  /** It needs something that we could not find out: what a load balancer of its kind, under any of these names, uses is held. */
  | { readonly kind: "unknown"; readonly names: readonly string[] }
);

/** Load balancers that may stand and whose needs are not known. */
export interface Unknown {
  readonly kind: Kind;
  readonly names: readonly string[];
}

export interface ClaimOptions {
  /** Groups to look at besides those of the nodes behind it. */
  readonly groups: readonly string[];
  /** Have the groups looked at even if the claim is no news. */
  readonly recheck: boolean;
  /** The name of the Service's load balancer of the other kind, while it has one. */
  readonly other?: string;
}

/** An owner waits for a group. What it asks for later is another wait: what was done for this one does not end it. */
interface Wait {
  /** Why the group cannot be brought to what the owner needs. */
  trouble?: { readonly cause: string; readonly why: string };
}

/** Those who wait for a group, by owner. */
export type Waits = ReadonlyMap<string, Wait>;

const kinds: readonly Kind[] = ["classic", "network"];

export class ClaimBook {
  readonly #entries = new Map<string, Entry>();
  /** By node group, then by owner. */
  readonly #waiting = new Map<string, Map<string, Wait>>();
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
  claim(owner: Owner, claim: Claim, { groups, recheck, other }: ClaimOptions): void {
    const id = idOf(owner);
    const before = this.#entries.get(id);
    this.#entries.set(id, { owner, kind: "claim", claim });
    this.#noteOther(owner, other);
    const same = before?.kind === "claim" && JSON.stringify(before.claim) === JSON.stringify(claim);
    if (same && !recheck) return;
    // What kept the groups from the former claim need not keep them from this one.
    if (!same) for (const waiting of this.#waiting.values()) if (waiting.has(id)) waiting.set(id, {});
    const left = before?.kind === "claim" ? before.claim.nodeGroups : [];
    this.#ask(owner, [...claim.nodeGroups, ...left, ...groups]);
  }

  /**
   * A load balancer goes: rules that only it needs have to go from these groups. What it asked for until now may be on its
   * way to others: each of those is looked at once more, and nothing that was begun before counts as that look.
   */
  leave(owner: Owner, marks: Marks, groups: readonly string[]): void {
    const id = idOf(owner);
    const before = this.#entries.get(id);
    const asked = before?.kind === "claim" ? [...before.claim.nodeGroups, ...this.waitsFor(owner.uid, [owner.kind])] : [];
    if (before?.kind === "claim") for (const waiting of this.#waiting.values()) if (waiting.has(id)) waiting.set(id, {});
    const known = before?.kind === "claim" ? before.claim.marks : before?.kind === "leaving" ? before.marks : undefined;
    const sources = [...new Set([...marks.sources, ...(known?.sources ?? [])])];
    this.#entries.set(id, { owner, kind: "leaving", marks: { descriptions: marks.descriptions, sources } });
    this.#ask(owner, [...groups, ...asked]);
  }

  /** Nothing is known of what a Service needs. What was known before still counts. */
  unknown({ key, uid }: Omit<Owner, "kind">, names: readonly string[]): void {
    if (this.knows(uid)) return;
    for (const kind of kinds) this.#entries.set(idOf({ uid, kind }), { owner: { key, uid, kind }, kind: "unknown", names });
  }

  forget(owner: Pick<Owner, "uid" | "kind">): void {
    this.#entries.delete(idOf(owner));
    for (const [group, waiting] of this.#waiting) {
      waiting.delete(idOf(owner));
      if (waiting.size === 0) this.#waiting.delete(group);
    }
  }

  knows(uid: string): boolean {
    return kinds.some((kind) => this.#entries.has(idOf({ uid, kind })));
  }

  /** The node groups that are not yet as this Service's load balancers, of these kinds, need them. */
  waitsFor(uid: string, of: readonly Kind[] = kinds): readonly string[] {
    return [...this.#waiting].filter(([, waiting]) => of.some((kind) => waiting.has(idOf({ uid, kind })))).map(([group]) => group);
  }

  /** Why one of the groups that this Service waits for cannot be brought to what it needs. */
  trouble(uid: string): string | undefined {
    const ids = kinds.map((kind) => idOf({ uid, kind }));
    return [...this.#waiting.values()].flatMap((waiting) => ids.flatMap((id) => waiting.get(id)?.trouble?.why ?? []))[0];
  }

  owners(): Pick<Owners, "claims" | "leaving"> & { readonly unknown: readonly Unknown[] } {
    const entries = [...this.#entries];
    return {
      claims: new Map(entries.flatMap(([id, entry]) => (entry.kind === "claim" ? [[id, entry.claim] as const] : []))),
      leaving: entries.flatMap(([, entry]) => (entry.kind === "leaving" ? [entry.marks] : [])),
      unknown: entries.flatMap(([, entry]) => (entry.kind === "unknown" ? [{ kind: entry.owner.kind, names: entry.names }] : [])),
    };
  }

  /** Those who wait for a group now: what is done next is done for them. */
  waitingFor(group: string): Waits {
    return new Map(this.#waiting.get(group));
  }

  /** The group is as they need it. Those who leave are told only of changes: they look again by themselves. */
  settled(group: string, waits: Waits, changed: boolean): void {
    const waiting = this.#waiting.get(group);
    const over = [...waits].filter(([id, wait]) => waiting?.get(id) === wait).map(([id]) => id);
    for (const id of over) waiting?.delete(id);
    if (waiting?.size === 0) this.#waiting.delete(group);
    this.#tell(over.filter((id) => changed || this.#entries.get(id)?.kind !== "leaving"));
  }

  /** The group cannot be brought to what these need. The same cause again is no news: only its request id differs. */
  failed(group: string, owners: readonly string[], error: unknown): void {
    const root = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const trouble = { cause: causeOf(root), why: error instanceof Error ? error.message : String(error) };
    const waiting = this.#waiting.get(group) ?? new Map<string, Wait>();
    const concerned = owners.filter((id) => this.#entries.has(id));
    const news = concerned.filter((id) => waiting.get(id)?.trouble?.cause !== trouble.cause);
    for (const id of concerned) waiting.set(id, Object.assign(waiting.get(id) ?? {}, { trouble }));
    if (waiting.size > 0) this.#waiting.set(group, waiting);
    this.#tell(news);
  }

  /** A Service that says what it needs knows whether it has a second load balancer, and what it is called. */
  #noteOther({ key, uid, kind }: Owner, name: string | undefined): void {
    const owner: Owner = { key, uid, kind: kind === "classic" ? "network" : "classic" };
    const entry = this.#entries.get(idOf(owner));
    if (name === undefined && entry?.kind === "unknown") this.forget(owner);
    if (name !== undefined && (entry === undefined || entry.kind === "unknown"))
      this.#entries.set(idOf(owner), { owner, kind: "unknown", names: [name] });
  }

  #ask(owner: Owner, groups: readonly string[]): void {
    const id = idOf(owner);
    for (const group of new Set(groups)) {
      const waiting = this.#waiting.get(group) ?? new Map<string, Wait>();
      this.#waiting.set(group, waiting.set(id, waiting.get(id) ?? {}));
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

const idOf = ({ uid, kind }: Pick<Owner, "uid" | "kind">) => `${uid} ${kind}`;
