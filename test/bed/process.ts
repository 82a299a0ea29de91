/** Fairlead as a process of its own, as an operator runs it. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Exit, Supervision } from "../../src/sandbox/cluster/real/supervision.ts";
import { eventually } from "./eventually.ts";

/** A running `fairlead`. It ends with the test process, whatever happens. */
export interface FairleadProcess {
  readonly name: string;
  readonly pid: number;
  signal(signal: NodeJS.Signals): void;
  exit(): Promise<Exit>;
  /** Everything it wrote so far. */
  logs(): Promise<string>;
  /** Resolves when it has written what matches; fails when it ends before, or takes too long. */
  says(pattern: RegExp, withinMs?: number): Promise<void>;
}

export interface FairleadOptions {
  readonly environment?: Readonly<Record<string, string>>;
}

const mainFile = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** Runs `fairlead <args>` with its output in the cluster's folder. */
export async function startFairlead(
  supervision: Supervision,
  folder: string,
  name: string,
  args: readonly string[],
  { environment = {} }: FairleadOptions = {},
): Promise<FairleadProcess> {
  const log = join(folder, `${name}.log`);
  const child = await supervision.start(process.execPath, [mainFile, ...args], {
    log,
    folder,
    environment: { PATH: process.env.PATH, HOME: folder, ...environment },
  });
  const logs = () => readFile(log, "utf8");
  return {
    name,
    pid: child.pid,
    signal: child.signal,
    exit: child.exit,
    logs,
    async says(pattern, withinMs) {
      await eventually(async () => {
        const written = await logs();
        if (child.ended && !pattern.test(written)) return;
        assert.match(written, pattern, `${name} has not said it`);
      }, withinMs);
      assert.match(await logs(), pattern, `${name} ended (${child.ended?.signal ?? child.ended?.code}) before it said it`);
    },
  };
}
