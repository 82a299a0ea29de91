/** `fairlead cluster`: the programs of a cluster in one process. */

import { clusterPrograms } from "./host/cluster-programs.ts";
import { hostCommand, hostSections } from "./host/command.ts";

const host = {
  name: "cluster",
  component: "fairlead-cluster",
  lease: "fairlead-cluster",
  description: `Runs the programs of a cluster in one process: one connection to AWS with one budget of calls, one watch per kind
of object, one lease. It also holds the lease of every program that it hosts, so that none of them, ours or the
reference's, writes beside it.`,
  programs: clusterPrograms,
};

/** Its flags, for shell completion. */
export const sections = hostSections(host);

/** Runs the command to its exit status. */
export const run = hostCommand(host);
