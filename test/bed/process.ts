/** What is tested in a process of its own, as an operator runs it. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Exit, Supervision } from "../../src/sandbox/cluster/real/supervision.ts";
import { eventually } from "./eventually.ts";

/** A process under test. It ends with the test process, whatever happens. */
export interface TestProcess {
  readonly name: string;
  readonly pid: number;
  signal(signal: NodeJS.Signals): void;
  exit(): Promise<Exit>;
  /** Everything it wrote so far. */
  logs(): Promise<string>;
  /** Resolves when it has written what matches; fails when it ends before, or takes too long. */
  says(pattern: RegExp, withinMs?: number): Promise<void>;
}

export interface ProcessOptions {
  readonly environment?: Readonly<Record<string, string>>;
}

/** Where `fairlead` begins. */
export const mainFile = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** Runs a TypeScript file with its output in the cluster's folder. */
export async function startProcess(
  supervision: Supervision,
  folder: string,
  name: string,
  file: string,
  args: readonly string[],
  { environment = {} }: ProcessOptions = {},
): Promise<TestProcess> {
  const log = join(folder, `${name}.log`);
  const child = await supervision.start(process.execPath, [file, ...args], {
    log,
    folder,
    environment: { PATH: process.env.PATH, HOME: folder, ...compileCache(), ...environment },
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

/** What the tests have compiled already serves their processes, too. */
function compileCache(): Readonly<Record<string, string>> {
  const folder = process.env.NODE_COMPILE_CACHE;
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}
