/** A scene of the demonstration: something happens to the world, and what Fairlead makes of it is checked. */
import type { CanonicalName } from "../../commands/controller-manager/controller-names.ts";
import { sleep } from "../../runtime/world.ts";
import type { Sandbox } from "../sandbox.ts";
import type { Picture } from "../view/picture.ts";

export interface Scene {
  readonly title: string;
  /** For somebody who has never seen any of it: what is about to happen, and why it matters. */
  readonly about: string;
  /** The controllers it is about: it is left out of a build that does not carry them. */
  readonly needs: readonly CanonicalName[];
  play(stage: Stage): Promise<void>;
}

/** Why a condition does not hold yet; undefined once it does. */
export type Objection = string | undefined;

export interface Stage {
  readonly sandbox: Sandbox;
  /** Aborts when the audience leaves. */
  readonly signal: AbortSignal;
  /** Tells the audience what is being done. */
  say(text: string): void;
  /** Shows what a command printed. */
  show(lines: readonly string[]): void;
  /** Waits until there is no objection any more and ticks it off; fails the scene with the last one when time is up. */
  expect(what: string, objection: (picture: Picture) => Objection, withinMs?: number): Promise<void>;
  /** Watches for so long that there is no objection, and ticks it off. */
  holds(what: string, forMs: number, objection: (picture: Picture) => Objection): Promise<void>;
}

/** What was to be seen was not. */
export class CheckFailed extends Error {
  override readonly name = "CheckFailed";
}

/** How a check ended, for who prints it. */
export interface CheckOutcome {
  readonly what: string;
  readonly ok: boolean;
  readonly tookMs: number;
  readonly objection: Objection;
}

const lookEveryMs = 50;

/** Who watches a scene. */
export interface Spectator extends Pick<Stage, "say" | "show"> {
  check(outcome: CheckOutcome): void;
}

/** A stage in this sandbox. */
export function stageIn(sandbox: Sandbox, signal: AbortSignal, spectator: Spectator): Stage {
  const { clock } = sandbox.world;
  const watch = async (what: string, objection: (picture: Picture) => Objection, goOn: (now: Objection, tookMs: number) => boolean) => {
    const began = clock.monotonic();
    const tookMs = () => clock.monotonic() - began;
    let now = objection(sandbox.picture());
    while (goOn(now, tookMs())) {
      await sleep(clock, lookEveryMs, signal);
      now = objection(sandbox.picture());
    }
    spectator.check({ what, ok: now === undefined, tookMs: tookMs(), objection: now });
    if (now !== undefined) throw new CheckFailed(`${what}: ${now}`);
  };
  return {
    sandbox,
    signal,
    say: (text) => spectator.say(text),
    show: (lines) => spectator.show(lines),
    expect: (what, objection, withinMs = 20_000) => watch(what, objection, (now, tookMs) => now !== undefined && tookMs < withinMs),
    holds: (what, forMs, objection) => watch(what, objection, (now, tookMs) => now === undefined && tookMs < forMs),
  };
}
