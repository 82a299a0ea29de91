/** `--once`: plays the scenes one after the other, tells what happens as it happens, and sums up. */
import { sleep } from "../runtime/world.ts";
import type { Sandbox } from "./sandbox.ts";
import { scenesFor } from "./scenes/index.ts";
import { type CheckOutcome, type Scene, stageIn } from "./scenes/scene.ts";
import { emptied, type Picture, totals } from "./view/picture.ts";
import { type Happening, storyBetween } from "./view/story.ts";
import { cut, type Line, line, render, type Style, wrap } from "./view/text.ts";

export interface Audience {
  print(text: string): void;
  /** 0 when nobody knows. */
  readonly columns: number;
  readonly colour: boolean;
}

interface Played {
  readonly scene: Scene;
  readonly checks: readonly CheckOutcome[];
  readonly tookMs: number;
  /** What ended it early. */
  readonly error: unknown;
}

/** Plays everything this build can play. Resolves with whether all of it went as it should. */
export async function demonstrate(sandbox: Sandbox, audience: Audience, signal: AbortSignal): Promise<boolean> {
  const { clock } = sandbox.world;
  const began = clock.monotonic();
  const program = scenesFor(sandbox.controllers);
  const teller = new Teller(sandbox, audience, began);
  const following = teller.follow(signal);
  const played: Played[] = [];
  for (const [index, scene] of program.entries()) {
    teller.scene(`${index + 1}/${program.length}  ${scene.title}`, scene.about);
    played.push(await play(scene, sandbox, teller, signal));
    if (played.at(-1)?.error !== undefined) break;
  }
  teller.stop();
  await following;
  const failed = played.find(({ error }) => error !== undefined);
  if (failed !== undefined) await teller.failure(failed.scene, failed.error);
  teller.summary(program, played, sandbox.picture(), clock.monotonic() - began);
  return failed === undefined;
}

async function play(scene: Scene, sandbox: Sandbox, teller: Teller, signal: AbortSignal): Promise<Played> {
  const { clock } = sandbox.world;
  const began = clock.monotonic();
  const checks: CheckOutcome[] = [];
  const check = (outcome: CheckOutcome) => {
    checks.push(outcome);
    teller.check(outcome);
  };
  let error: unknown;
  try {
    await scene.play(stageIn(sandbox, signal, { say: (text) => teller.say(text), show: (lines) => teller.show(lines), check }));
  } catch (caught) {
    signal.throwIfAborted();
    error = caught;
  }
  return { scene, checks, tookMs: clock.monotonic() - began, error };
}

const lookEveryMs = 100;
/** How many the summary names. */
const actionsNamed = 4;

/** Prints. What happens in the world is told between what the scenes do, in the order of time. */
class Teller {
  readonly #sandbox: Sandbox;
  readonly #audience: Audience;
  readonly #began: number;
  readonly #stopped = new AbortController();
  readonly #width: number;
  /** As last told; undefined before the first scene. */
  #last: Picture | undefined;

  constructor(sandbox: Sandbox, audience: Audience, began: number) {
    this.#sandbox = sandbox;
    this.#audience = audience;
    this.#began = began;
    this.#width = Math.min(audience.columns || 120, 120);
  }

  async follow(signal: AbortSignal): Promise<void> {
    const until = AbortSignal.any([signal, this.#stopped.signal]);
    while (!until.aborted) {
      this.#catchUp();
      await sleep(this.#sandbox.world.clock, lookEveryMs, until).catch(() => {});
    }
  }

  stop(): void {
    this.#catchUp();
    this.#stopped.abort();
  }

  scene(title: string, about: string): void {
    this.#catchUp();
    this.#print(line());
    this.#print(line(["bold", title]));
    this.#prose(about, "dim");
    this.#print(line());
    this.#last ??= emptied(this.#sandbox.picture());
  }

  say(text: string): void {
    this.#catchUp();
    this.#entry("action", "accent", text, "accent");
  }

  /** What does not fit on the terminal is cut, as it is of everything else that happens. */
  show(lines: readonly string[]): void {
    this.#catchUp();
    for (const each of lines) this.#printCut(line(["dim", `           │ ${each}`]));
  }

  check({ what, ok, tookMs, objection }: CheckOutcome): void {
    this.#catchUp();
    const took = tookMs < 100 ? "" : `  (${seconds(tookMs)})`;
    this.#print(ok ? line("  ", ["good", `✓ ${what}`], ["dim", took]) : line(["bad", `  ✗ ${what}: ${objection}`]));
  }

  async failure(scene: Scene, error: unknown): Promise<void> {
    this.#print(line());
    this.#print(line(["bad", `"${scene.title}" did not go as it should: ${error instanceof Error ? error.message : error}`]));
    for (const { name } of this.#sandbox.replicas.list()) {
      this.#print(line(`The last words of replica ${name}:`));
      this.#audience.print(`${await this.#sandbox.replicas.tail(name, 15)}\n`);
    }
  }

  summary(program: readonly Scene[], played: readonly Played[], picture: Picture, tookMs: number): void {
    const ok = played.length === program.length && played.every(({ error }) => error === undefined);
    const checks = played.flatMap((each) => each.checks);
    const { calls, throttled } = totals(picture.calls.tallies);
    const actions = picture.calls.tallies.toSorted((a, b) => b.calls - a.calls).map((tally) => `${tally.action} ${tally.calls}`);
    const others = actions.length - actionsNamed;
    this.#print(line());
    this.#print(line(["bold", "What you have seen"]));
    this.#print(line());
    const width = Math.max(...program.map(({ title }) => title.length)) + 2;
    for (const { scene, checks: own, tookMs: took, error } of played) {
      const mark: readonly [Style, string] = error === undefined ? ["good", "✓"] : ["bad", "✗"];
      const passed = own.filter((check) => check.ok).length;
      this.#print(
        line("  ", mark, ` ${scene.title.padEnd(width)}${`${passed} check${passed === 1 ? "" : "s"}`.padEnd(12)}`, ["dim", seconds(took)]),
      );
    }
    for (const scene of program.slice(played.length)) this.#print(line("  ", ["dim", `– ${scene.title} (not played)`]));
    this.#print(line());
    this.#prose(`  AWS calls by Fairlead: ${calls}${throttled > 0 ? `, ${throttled} of them turned away` : ""}`, "plain");
    if (calls > 0)
      this.#prose(`    ${actions.slice(0, actionsNamed).join(", ")}${others > 0 ? `, and ${others} other actions` : ""}`, "dim");
    const mutating = new Set(this.#sandbox.cloud.controls.journal.entries().map(({ action }) => action.slice(action.indexOf(":") + 1)));
    const changes = totals(picture.calls.tallies.filter(({ action }) => mutating.has(action)));
    this.#prose(`  Changes it made in AWS: ${changes.calls - changes.throttled - changes.failed || "none"}`, "plain");
    this.#print(line());
    const verdict = ok
      ? `Everything ended as it should: ${played.length} scenes, ${checks.length} checks, ${seconds(tookMs)}.`
      : "Not everything ended as it should: see above.";
    this.#prose(verdict, ok ? "good" : "bad");
    if (ok)
      this.#prose(
        "Without --once the sandbox keeps running: break things from the keyboard, use kubectl and the aws command on it.",
        "dim",
      );
  }

  #catchUp(): void {
    if (this.#last === undefined) return;
    const now = this.#sandbox.picture();
    for (const happening of storyBetween(this.#last, now)) this.#tell(happening);
    this.#last = now;
  }

  #tell({ who, text, style }: Happening): void {
    this.#entry(who, who === "Fairlead" ? "bold" : "dim", text, style);
  }

  #entry(who: string, whoStyle: Style, text: string, style: Style): void {
    const at = seconds(this.#sandbox.world.clock.monotonic() - this.#began).padStart(8);
    const entry = line(["dim", `${at}  `], [whoStyle, who.padEnd(11)], [style, text]);
    this.#printCut(entry);
  }

  #printCut(of: Line): void {
    this.#print(this.#audience.columns > 0 ? cut(of, this.#audience.columns) : of);
  }

  /** Wrapped to the width, every line indented as the first. */
  #prose(text: string, style: Style): void {
    const indent = /^ */.exec(text)![0];
    for (const each of wrap(text, this.#width - indent.length)) this.#print(line(indent, [style, each]));
  }

  #print(of: Line): void {
    this.#audience.print(`${render(of, this.#audience.colour)}\n`);
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
