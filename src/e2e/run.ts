/** Runs the cases one after the other, cleans up whatever happens, and reports. */
import { messageOf } from "../runtime/message-of.ts";
import { type Case, cases } from "./cases.ts";
import { cleanUp, warningsOf, whatIsLeft } from "./clean-up.ts";
import { type Context, NotHere } from "./context.ts";

export interface Outcome {
  readonly name: string;
  readonly checks: string;
  readonly result: "passed" | "failed" | "skipped";
  readonly seconds: number;
  /** Why it failed or was skipped; of one that passed, what was left out. */
  readonly why: string;
}

export interface Report {
  readonly run: string;
  readonly outcomes: readonly Outcome[];
  /** Warnings that the controllers wrote about this run's objects. */
  readonly warnings: readonly string[];
  /** Actions of AWS that were denied, to the controllers or to this command. */
  readonly denied: readonly string[];
  /** What could not be removed; empty when nothing is left. */
  readonly left: readonly string[];
}

/** However little a case may wait for: controllers that were refused something try again after minutes, and AWS takes its time. */
const minCleanUpMs = 10 * 60_000;

const maxAttempts = 5;

/** A context whose run nothing carries the mark of: what is deleted by it at the end is of this run. */
export async function withFreeRun(contextOf: () => Context): Promise<Context> {
  for (let attempt = 1; ; attempt++) {
    const context = contextOf();
    const left = await whatIsLeft(context);
    if (left.length === 0) return context;
    if (attempt === maxAttempts) throw new Error(`there are things of another run that is also called ${context.run}: ${left.join(", ")}`);
  }
}

/** Runs the chosen cases. `say` is told of each as it ends. */
export async function runSuite(context: Context, chosen: readonly Case[], say: (line: string) => void): Promise<Report> {
  const outcomes: Outcome[] = [];
  try {
    for (const each of chosen) {
      const outcome = await runCase(context, each);
      outcomes.push(outcome);
      say(`${outcome.result.padEnd(8)} ${outcome.name} (${outcome.seconds} s)${outcome.why ? `: ${outcome.why}` : ""}`);
      if (context.ask.signal.aborted) break;
    }
  } finally {
    say("cleaning up");
  }
  // Also after a signal, which ended what was running: what was made is removed all the same.
  const timeoutMs = Math.max(context.timeoutMs, minCleanUpMs);
  const inPeace = { ...context, timeoutMs, ask: { ...context.ask, signal: new AbortController().signal } };
  const warnings = await warningsOf(inPeace).catch((error: unknown) => [`Events cannot be read: ${messageOf(error)}`]);
  const left = await cleanUp(inPeace);
  return { run: context.run, outcomes, warnings, denied: deniedIn([...warnings, ...left, ...outcomes.map(({ why }) => why)]), left };
}

async function runCase(context: Context, { name, checks, run }: Case): Promise<Outcome> {
  const { clock } = context.world;
  const begun = clock.now();
  const out = new Set<string>();
  const outcome = (result: Outcome["result"], why: string): Outcome => ({
    name,
    checks,
    result,
    seconds: Math.round((clock.now() - begun) / 1000),
    why,
  });
  try {
    await run({ ...context, leftOut: (what) => out.add(what) });
    return outcome("passed", out.size > 0 ? `without ${[...out].join(", ")}` : "");
  } catch (error) {
    if (error instanceof NotHere) return outcome("skipped", `it needs ${error.message}`);
    return outcome("failed", messageOf(error));
  }
}

/** The actions that AWS's refusals name. */
export function deniedIn(texts: readonly string[]): readonly string[] {
  const named = texts.flatMap((text) => [
    ...text.matchAll(/not authorized to perform:? ([a-z0-9-]+:\w+)/gi),
    ...text.matchAll(/\b(?:needs|lacks|allow) ([a-z0-9-]+:[A-Z]\w+)/g),
  ]);
  return [...new Set(named.map(([, action = ""]) => action))].sort();
}

/** The cases by their names; unknown ones are given back. */
export function casesNamed(names: readonly string[]): { readonly chosen: readonly Case[]; readonly unknown: readonly string[] } {
  if (names.length === 0) return { chosen: cases, unknown: [] };
  return {
    chosen: cases.filter(({ name }) => names.includes(name)),
    unknown: names.filter((name) => !cases.some((each) => each.name === name)),
  };
}
