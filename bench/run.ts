/** `npm run bench` names the benchmarks; `npm run bench NAME [args]` runs one. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const folder = import.meta.dirname;
const names = readdirSync(folder)
  .filter((file) => file.endsWith(".ts") && file !== "run.ts" && !file.includes("-follower"))
  .map((file) => file.slice(0, -".ts".length));
const [name, ...args] = process.argv.slice(2);

if (name === undefined || !names.includes(name)) {
  if (name !== undefined) console.error(`there is no benchmark ${JSON.stringify(name)}`);
  console.log(`npm run bench NAME, with one of:\n${names.map((known) => `  ${known}`).join("\n")}`);
  process.exitCode = name === undefined ? 0 : 1;
} else {
  process.exitCode = spawnSync(process.execPath, [join(folder, `${name}.ts`), ...args], { stdio: "inherit" }).status ?? 1;
}
