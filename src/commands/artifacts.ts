/** `fairlead artifacts`: print what a node manager needs of the provider, or keep it in the cluster. */
import { stringify } from "yaml";
import { artifacts } from "../discovery/artifacts/artifacts.ts";
import { ArtifactsInputInvalid, readArtifactsInput } from "../discovery/artifacts/input.ts";
import { StorageClassInvalid } from "../discovery/artifacts/storage-classes.ts";
import { exitStatus } from "../process/exit.ts";
import { FlagError, type FlagSection, flag, parseFlags } from "../runtime/flags.ts";
import { bool, string } from "../runtime/flags-kinds.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import { messageOf } from "../runtime/message-of.ts";
import type { Command } from "./command.ts";
import { failure } from "./failure.ts";

const flags = {
  config: flag(string, "", "The file: cluster configuration, discovery data, storage classes. Required."),
  help: flag(bool, false, "Print this.", { shorthand: "h" }),
};

const usage = `Prints the objects that a node manager such as Deckhouse's needs of the AWS provider, as YAML: the definition of
AWSInstanceClass, registration Secrets, templates of machine classes, storage classes. The Secrets hold the account's keys. It changes nothing.

Usage:
  fairlead artifacts render --config=FILE
  fairlead artifacts run [flags]          keeps them in the cluster; "fairlead artifacts run --help"

Exit status: 0; 1 when the file cannot be read or used, with every problem as a line; 64 for a wrong command line.`;

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "Artifacts", flags }];

export const run: Command = async (invocation) => {
  const { argv, world, console } = invocation;
  if (argv[0] === "run") {
    const { runKeeper } = await import("./artifacts/run.ts");
    return runKeeper({ ...invocation, argv: argv.slice(1) });
  }
  try {
    const { values, args } = parseFlags(flags, argv);
    if (values.help) {
      console.out(`${usage}\n\n${flagUsage(sections, console.columns)}`);
      return exitStatus.done;
    }
    if (args.length !== 1 || args[0] !== "render") throw new FlagError(`say what to do: render or run${args[0] ? `, not ${args[0]}` : ""}`);
    if (values.config === "") throw new FlagError("--config is required");
    const input = readArtifactsInput(Buffer.from(await world.files.read(values.config)).toString("utf8"));
    console.out(
      artifacts(input)
        .map((object) => `---\n${stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })}`)
        .join(""),
    );
    return exitStatus.done;
  } catch (error) {
    if (!(error instanceof ArtifactsInputInvalid || error instanceof StorageClassInvalid)) return failure("artifacts", error, console);
    for (const line of messageOf(error).split("\n")) console.err(`fairlead artifacts: ${line}\n`);
    return exitStatus.failed;
  }
};
