/** `fairlead ebs-csi-driver [MODE]`. */
import { arch, platform } from "node:process";
import { build } from "../process/build.ts";
import { exitStatus } from "../process/exit.ts";
import { flagLines } from "../runtime/flags.ts";
import { nearest } from "../runtime/nearest.ts";
import type { Command } from "./command.ts";
import { allSections, flagsOf, type Mode, modes, sectionsOf } from "./ebs-csi-driver/flags.ts";
import { type DriverValues, validate } from "./ebs-csi-driver/validate.ts";
import { longRunning } from "./long-running.ts";
import { globalFlagsReader } from "./read-flags.ts";

/** Its flags, for shell completion. */
export const sections = allSections;

/** The reference ends with this when it cannot read its command line. */
const unreadable = 2;

/** Runs the command to its exit status. */
export const run: Command = async (invocation) => {
  const { argv, console } = invocation;
  const hasMode = argv[0] !== undefined && !argv[0].startsWith("-");
  const [given, rest] = hasMode ? [argv[0]!, argv.slice(1)] : ["all", argv];
  const mode = modes.find((each) => each === given);
  if (mode === undefined) {
    const guess = nearest(given, modes);
    console.err(`Unknown driver mode ${JSON.stringify(given)}${guess ? `; did you mean ${guess}?` : ""} There are ${modes.join(", ")}.\n`);
    return unreadable;
  }
  if (rest.some((word) => word === "--version" || word === "--version=true")) {
    console.out(`${versionText()}\n`);
    return exitStatus.done;
  }
  return driver(mode)({ ...invocation, argv: rest });
};

function driver(mode: Mode): Command {
  const name = `ebs-csi-driver ${mode}`;
  const flags = flagsOf(mode);
  const refused = { status: unreadable, told: "briefly" } as const;
  return longRunning({
    name,
    description: `Creates, attaches and mounts EBS volumes for the claims of a cluster, as a CSI driver. Mode ${mode}, of ${modes.join(", ")}.`,
    sections: sectionsOf(mode),
    refusals: { commandLine: refused, configuration: refused, failed: exitStatus.fatal },
    read: globalFlagsReader({
      name,
      flags,
      product: "ebs-csi-driver",
      prepare: async ({ values }) => ({
        options: values,
        shown: flagLines(flags, values),
        check() {
          validate(values as DriverValues);
          return [];
        },
        maxStallMs: 2_000,
        async operate(life) {
          const { operate } = await import("./ebs-csi-driver/operate.ts");
          await operate(mode, values as DriverValues, life);
        },
      }),
    }),
  });
}

/** As the reference prints it; what Go says of itself is said of Node. */
function versionText(): string {
  return JSON.stringify(
    {
      driverVersion: build.version,
      gitCommit: build.commit,
      buildDate: build.date,
      goVersion: `node ${process.versions.node}`,
      compiler: "v8",
      platform: `${platform}/${arch === "x64" ? "amd64" : arch}`,
    },
    undefined,
    2,
  );
}
