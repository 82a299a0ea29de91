#!/usr/bin/env -S node --max-semi-space-size=2 --heap-growing-percent=50 --optimize-for-size
/**
 * The one executable: `fairlead <command>`. Called by the name of a program it stands for, it is that program.
 *
 * The small young generation and the slowly growing old one are for its long-running commands: they read long lists and
 * keep little of them, and V8 would otherwise let garbage and compiled code pile up to a hundred megabytes before it looks
 * (`npm run bench informer-memory`, `npm run bench nodes-5000`).
 */
import { basename } from "node:path";
import type { Command, Console, Invocation } from "./commands/command.ts";
import { type CommandEntry, commands } from "./commands/table.ts";
import { bearClosedPipes, endOnCrash, exitStatus, stopSignal } from "./process/exit.ts";
import { maturity, neverOnRealAccount, notAffiliated } from "./process/maturity.ts";
import { realWorld } from "./runtime/world.ts";

if (import.meta.main) {
  const onCrash = endOnCrash();
  bearClosedPipes();
  const [, script = "", ...argv] = process.argv;
  const status = await main(script, { argv, world: realWorld(), console: processConsole(), stopSignal, onCrash });
  // Whatever was printed leaves before the process does; whatever else is still open does not hold it.
  process.stdout.write("", () => process.exit(status));
}

/** Runs the command the words ask for and resolves with the exit status. */
export async function main(script: string, invocation: Invocation): Promise<number> {
  const called = basename(script).replace(/\.[cm]?[jt]s$/, "");
  const standsFor = Object.values(commands).find((entry) => entry.standsFor === called);
  if (standsFor) return (await standsFor.load()).run(invocation);
  const [name = "help", ...argv] = invocation.argv;
  const command = await find(name);
  if (command) return command({ ...invocation, argv });
  const { nearest } = await import("./runtime/nearest.ts");
  const guess = nearest(name, [...Object.keys(commands), "help"]);
  invocation.console.err(
    `fairlead: unknown command ${JSON.stringify(name)}${guess ? `; did you mean ${JSON.stringify(guess)}?` : ""}\n` +
      `Run "fairlead help" for the commands there are.\n`,
  );
  return exitStatus.usage;
}

async function find(name: string): Promise<Command | undefined> {
  if (name === "help" || name === "--help" || name === "-h") return help;
  if (name === "__complete") return (await import("./commands/completion.ts")).complete;
  const known = name === "--version" ? "version" : name;
  return Object.hasOwn(commands, known) ? (await commands[known]!.load()).run : undefined;
}

async function help({ argv: [topic], ...invocation }: Invocation): Promise<number> {
  const entry = topic !== undefined && Object.hasOwn(commands, topic) ? commands[topic] : undefined;
  if (entry) return (await entry.load()).run({ ...invocation, argv: ["--help"] });
  invocation.console.out(overview(Object.entries(commands)));
  return 0;
}

function overview(entries: readonly [string, CommandEntry][]): string {
  const rows = [
    ...entries.map(([name, { summary, standsFor }]) => [name, `${stageOf(name)}${summary}${standsFor ? ` (also as ${standsFor})` : ""}`]),
    ["help", "Print this, or the help of a command"],
  ];
  const width = Math.max(...rows.map(([name = ""]) => name.length)) + 2;
  return [
    "Fairlead gives a Kubernetes cluster what it needs from AWS.",
    "",
    "Usage:",
    "  fairlead <command> [flags]",
    "",
    "Commands:",
    ...rows.map(([name = "", summary]) => `  ${name.padEnd(width)}${summary}`),
    "",
    'Run "fairlead <command> --help" for the flags of a command.',
    "",
    neverOnRealAccount,
    notAffiliated,
    "",
  ].join("\n");
}

/** How far a program has come, before what it does. */
function stageOf(name: string): string {
  return Object.hasOwn(maturity, name) ? `[${maturity[name]!.stage}] ` : "";
}

function processConsole(): Console {
  return {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    columns: process.stdout.isTTY ? process.stdout.columns : 0,
    watched: process.stderr.isTTY,
    logDescriptor: 2,
  };
}
