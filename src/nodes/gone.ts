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
  /** The state of the Node that is judged. */
  readonly resourceVersion: string;
  readonly instanceId: string;
  /** Wall-clock milliseconds. */
  readonly nodeCreatedAt: number;
}

/** When a look was taken, on both clocks: ages of Nodes need the one, spans the one that never jumps. */
export interface Moment {
  readonly now: number;
  readonly monotonic: number;
}

export type Verdict =
  | { readonly kind: "alive"; readonly state: string }
  | { readonly kind: "gone"; readonly proof: ConfirmedGone }
  | { readonly kind: "unproven"; readonly lack: Lack; readonly why: string };

/** What a proof still lacks. */
export type Lack = "answer" | "region" | "witness" | "age" | "time";

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
  /** How it is known, for the log. */
  get reason(): string {
    return this.#by;
  }
  /** Collects the sightings of every case and gives the verdict on each. */
  static prover(): Prover {
    const misses = new Map<string, Misses>();
    return {
      judge(found, sighting, moment) {
        if (sighting.kind === "terminated") return { kind: "gone", proof: new ConfirmedGone(found, "EC2 describes it as terminated") };
        if (sighting.kind === "alive") {
          misses.delete(found.nodeUid);
          return sighting;
        }
        const lack = lackOf(found, sighting, moment);
        if (lack !== undefined) return { kind: "unproven", lack, why: lacks[lack] };
        const before = misses.get(found.nodeUid);
        const counted =
          before?.instanceId === found.instanceId
            ? { ...before, count: before.count + 1 }
            : { instanceId: found.instanceId, count: 1, since: moment.monotonic };
        misses.set(found.nodeUid, counted);
        const spanMs = moment.monotonic - counted.since;
        const so = `EC2 named it as not found ${counted.count} times over ${Math.round(spanMs / 1000)} s`;
        if (counted.count >= requiredMisses && spanMs >= requiredSpanMs) return { kind: "gone", proof: new ConfirmedGone(found, so) };
        return { kind: "unproven", lack: "time", why: `${so}: ${lacks.time}` };
      },
      hasMissed: (nodeUid) => misses.has(nodeUid),
      keepOnly(nodeUids) {
        for (const uid of misses.keys()) if (!nodeUids.has(uid)) misses.delete(uid);
      },
    };
  }
}

interface Misses {
  readonly instanceId: string;
  readonly count: number;
  /** Of the first, on the monotonic clock. */
  readonly since: number;
}

/** What keeps a miss from counting; undefined when it counts. */
function lackOf(found: Case, sighting: Extract<Sighting, { kind: "named-missing" | "unanswered" }>, { now }: Moment): Lack | undefined {
  if (sighting.kind === "unanswered") return "answer";
  if (!sighting.zoneInRegion) return "region";
  if (!sighting.witness) return "witness";
  return now - found.nodeCreatedAt < requiredNodeAgeMs ? "age" : undefined;
}

const lacks: Readonly<Record<Lack, string>> = {
  answer: "EC2 did not answer for this instance",
  region: "the provider ID does not name a zone of this region",
  witness: "these credentials see no live instance of this cluster, so a missing one proves nothing",
  age: "the Node is younger than 10 minutes",
  time: "not often enough, or not for long enough, to be sure",
};

export interface Prover {
  judge(found: Case, sighting: Sighting, moment: Moment): Verdict;
  /** Whether a miss of this Node's instance has been counted. */
  hasMissed(nodeUid: string): boolean;
  /** Drops what is remembered of all other Nodes: they are ready again, or no more. */
  keepOnly(nodeUids: ReadonlySet<string>): void;
}

/** A prover with an empty memory. A restart starts over: proof is never carried across processes. */
export const goneProver = ConfirmedGone.prover;
