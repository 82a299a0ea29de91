/**
 * Proof that an instance is gone. A Node is deleted only with a `ConfirmedGone` in hand, and only this file makes one.
 *
 * Proof is either (a) EC2 described this id as terminated, or (b) EC2 answered InvalidInstanceID.NotFound and named this
 * id, at least 3 times over at least 5 minutes, for a Node older than 10 minutes, where each time the Node's zone lay in
 * the client's region and the same credentials saw a live instance of this cluster. Anything else (an empty list, an
 * error, a page cut short) proves nothing: a wrong account or region also knows no instance of ours.
 */

/** What one look at EC2 told about one instance id. */
export type Sighting =
  | { readonly kind: "alive"; readonly state: string }
  | { readonly kind: "terminated" }
  /** EC2 named this id in InvalidInstanceID.NotFound. */
  | { readonly kind: "named-missing"; readonly zoneInRegion: boolean; readonly witness: boolean }
  /** The question was not answered: throttled, denied, cut off, absent from a list. */
  | { readonly kind: "unanswered" };

/** Who is looked for: the same name with another UID or another instance is another case. */
export interface Case {
  readonly nodeName: string;
  readonly nodeUid: string;
  readonly instanceId: string;
  readonly nodeCreatedAt: number;
}

export type Verdict =
  | { readonly kind: "alive"; readonly state: string }
  | { readonly kind: "gone"; readonly proof: ConfirmedGone }
  | { readonly kind: "unproven"; readonly why: string };

export const requiredMisses = 3;
export const requiredSpanMs = 5 * 60_000;
export const requiredNodeAgeMs = 10 * 60_000;

/** The licence to delete one Node. Cannot be made outside the prover. */
export class ConfirmedGone {
  readonly #by: string;
  readonly case: Case;
  private constructor(found: Case, by: string) {
    this.case = found;
    this.#by = by;
  }
  /** How it is known, for the Event. */
  get reason(): string {
    return this.#by;
  }
  /** Collects the sightings of every case and gives the verdict on each. */
  static prover(): Prover {
    const misses = new Map<string, number[]>();
    const idOf = (found: Case) => `${found.nodeUid}/${found.instanceId}`;
    return {
      judge(found, sighting, now) {
        if (sighting.kind === "terminated") return { kind: "gone", proof: new ConfirmedGone(found, "EC2 describes it as terminated") };
        if (sighting.kind === "alive") {
          misses.delete(idOf(found));
          return sighting;
        }
        if (sighting.kind === "unanswered") return { kind: "unproven", why: "EC2 did not answer for this instance" };
        if (!sighting.zoneInRegion) return { kind: "unproven", why: "the provider ID names a zone of another region" };
        if (!sighting.witness) {
          return { kind: "unproven", why: "these credentials see no live instance of this cluster, so a missing one proves nothing" };
        }
        if (now - found.nodeCreatedAt < requiredNodeAgeMs) return { kind: "unproven", why: "the Node is younger than 10 minutes" };
        const times = [...(misses.get(idOf(found)) ?? []), now];
        misses.set(idOf(found), times);
        const span = now - (times[0] as number);
        if (times.length >= requiredMisses && span >= requiredSpanMs) {
          return {
            kind: "gone",
            proof: new ConfirmedGone(found, `EC2 named it as not found ${times.length} times over ${Math.round(span / 1000)} s`),
          };
        }
        return {
          kind: "unproven",
          why: `EC2 named it as not found ${times.length} times over ${Math.round(span / 1000)} s: not long enough to be sure`,
        };
      },
      forget(nodeUid) {
        for (const id of misses.keys()) if (id.startsWith(`${nodeUid}/`)) misses.delete(id);
      },
    };
  }
}

export interface Prover {
  judge(found: Case, sighting: Sighting, now: number): Verdict;
  /** Drops what is remembered of a Node that no longer exists. */
  forget(nodeUid: string): void;
}

/** A prover with an empty memory. A restart starts over: proof is never carried across processes. */
export const gonenessProver = ConfirmedGone.prover;
