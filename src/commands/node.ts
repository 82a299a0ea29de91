/** `fairlead node`: the programs of a node in one process. */
import { hostCommand, hostSections } from "./host/command.ts";
import { nodePrograms } from "./host/node-programs.ts";

const host = {
  name: "node",
  component: "fairlead-node",
  lease: undefined,
  description: "Runs the programs of a node in one process with one metadata client.",
  programs: nodePrograms,
};

/** Its flags, for shell completion. */
export const sections = hostSections(host);

/** Runs the command to its exit status. */
export const run = hostCommand(host);
