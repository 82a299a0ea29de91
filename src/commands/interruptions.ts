/** `fairlead interruptions setup`, which makes what interruptions are heard by, and `simulate`, which shows what is done about one. */
import { exitStatus } from "../process/exit.ts";
import { FlagError, type FlagSection } from "../runtime/flags.ts";
import { nearest } from "../runtime/nearest.ts";
import type { Command } from "./command.ts";
import { failure } from "./failure.ts";
import { setup, sections as setupSections } from "./interruptions/setup.ts";
import { simulate, sections as simulateSections } from "./interruptions/simulate.ts";

const verbs: Readonly<Record<string, Command>> = {
  setup: (invocation) => setup(invocation),
  simulate: (invocation) => simulate(invocation),
};

const usage = `Usage:
  fairlead interruptions setup [--plan | --yes]         show or make the queue, rules, hooks and tags that notices come by
  fairlead interruptions simulate KIND NODE --yes       treat a Node as if AWS had announced its interruption

Run one of them with --help for its flags.
`;

/** The flags by section, for completion. */
export const sections: readonly FlagSection[] = [...setupSections, ...simulateSections];

/** Runs the command on this machine's sockets. */
export const run: Command = async (invocation) => {
  const [verb = "", ...argv] = invocation.argv;
  const { console } = invocation;
  if (verb === "--help" || verb === "-h") {
    console.out(usage);
    return exitStatus.done;
  }
  if (Object.hasOwn(verbs, verb)) return verbs[verb]!({ ...invocation, argv });
  const guess = nearest(verb, Object.keys(verbs));
  const hint = guess === undefined ? "" : `, did you mean ${guess}?`;
  return failure("interruptions", new FlagError(`write: fairlead interruptions setup, or simulate KIND NODE${hint}`), console);
};
