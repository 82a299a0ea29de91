/** The simulation is worth its time: known faults are found, named, and replayed from their seed. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { mutants } from "./mutants.ts";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));

for (const { name, world, killedBy } of mutants) {
  test(`${name} is found within 100 seeds, and its seed tells the same story again`, async () => {
    const found = await run(world, "--mutant", name, "--seed", "1", "--runs", "100", "--first");
    assert.equal(found.status, 1, found.output.slice(-2000));
    const [, seed] = /^seed (\d+) broke/m.exec(found.output) ?? [];
    assert.ok(seed !== undefined, "the output names the seed");
    assert.ok(
      breachesOf(found.output).some((breach) => breach.startsWith(killedBy)),
      breachesOf(found.output).join("\n"),
    );

    const replayed = await run(world, "--mutant", name, "--seed", seed, "--story");
    assert.equal(storyOf(replayed.output), storyOf(found.output));
  });
}

function breachesOf(output: string): string[] {
  return [...output.matchAll(/ BROKEN {5}(.*)$/gm)].map(([, breach]) => breach!);
}

function storyOf(output: string): string {
  return output.slice(0, output.indexOf("\nseed "));
}

async function run(...args: string[]): Promise<{ status: number | null; output: string }> {
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { status, output: Buffer.concat(chunks).toString("utf8") };
}
