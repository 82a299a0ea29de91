/** Commands of Fairlead that look once and end, run as somebody in the sandbox's shell runs them. */
import type { Command } from "../commands/command.ts";
import type { Sandbox } from "./sandbox.ts";

const commands = {
  migrate: async () => (await import("../commands/migrate.ts")).run,
  plan: async () => (await import("../commands/plan.ts")).run,
} as const satisfies Readonly<Record<string, () => Promise<Command>>>;

/** How a command ended, and what it printed. */
export interface Printed {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `fairlead NAME` to its end. No installation stands in the cluster for it to read: it is told what the controllers are told. */
export async function runCommand(
  { world, access }: Pick<Sandbox, "world" | "access">,
  name: keyof typeof commands,
  ...words: readonly string[]
): Promise<Printed> {
  const run = await commands[name]();
  const printed = { out: "", err: "" };
  const keepIn = (stream: keyof typeof printed) => (text: string) => {
    printed[stream] += text;
  };
  const status = await run({
    argv: [...words, `--cloud-config=${access.cloudConfig}`, `--cluster-name=${access.clusterName}`],
    world: { ...world, environment: { ...world.environment, ...access.variables } },
    console: { out: keepIn("out"), err: keepIn("err"), columns: 0, watched: false },
    stopSignal: () => new AbortController().signal,
  });
  return { status, ...printed };
}
