import { type CloudWish, ec2Throttle } from "../bed/cloud.ts";
import type { Entrant, EntrantName } from "../bed/entrants.ts";
import type { Figures } from "../bed/figures.ts";

/** One situation that every entrant is put into. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** What is done and when the clock stops. */
  readonly about: string;
  readonly entrants: readonly EntrantName[];
  /** Run only when everything is asked for: it takes too long for what it adds. */
  readonly onlyFull?: boolean;
  /** Runs it once, in a world of its own. Figures by step, in order. */
  run(entrant: Entrant, size: Size): Promise<Steps>;
}

/** Figures by the name of the step. */
export type Steps = Readonly<Record<string, Figures>>;

/** Whether the numbers are to be believed, or only the machinery tried. */
export interface Size {
  /** A whole count, or a tenth of it for a try. */
  count(whole: number): number;
  /** The same for lengths of time. */
  seconds(whole: number): number;
}

/** AWS as it is on a usual day. */
export const usualCloud: CloudWish = { latencyMs: 40, throttle: ec2Throttle };

/** As long without a call means that a program is done with what it does at its start. */
export const quietMs = 8_000;

/** Routes are for the scenario that is about them; without the Lease nobody waits for a predecessor's to run out. */
export const alone = ["--leader-elect=false", "--configure-cloud-routes=false"];
