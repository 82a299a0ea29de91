/** The single executable: the credential provider alone, on Bun, with the shortest way to the first request. */
import manifest from "../../package.json" with { type: "json" };
import { bunPlatform } from "./platform-bun.ts";
import { thisProcess } from "./process.ts";
import { runProgram } from "./program.ts";

void runProgram(process.argv.slice(2), thisProcess(bunPlatform, `v${manifest.version}`)).then((status) => process.exit(status));
