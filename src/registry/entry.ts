/** The single executable: the credential provider alone, on Bun, with the shortest way to the first request. */
import manifest from "../../package.json" with { type: "json" };
import { endOnCrash } from "../process/exit.ts";
import { realWorld } from "../runtime/world.ts";
import { bunPlatform, bunStreams } from "./platform-bun.ts";
import { runProgram } from "./program.ts";

endOnCrash();
const surroundings = { world: realWorld(), platform: bunPlatform, version: `v${manifest.version}`, pid: process.pid, ...bunStreams };
void runProgram(process.argv.slice(2), surroundings).then((status) => process.exit(status));
