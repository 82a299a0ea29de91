/** The reference page of the commands that host programs. */
import { flagReference } from "../runtime/flags-usage.ts";
import { sections } from "./cluster.ts";
import { clusterPrograms } from "./host/cluster-programs.ts";
import { processFlags } from "./host/flags.ts";
import type { HostedProgram } from "./host/hosted.ts";
import { nodePrograms } from "./host/node-programs.ts";

/** `docs/reference/cluster.md`. */
export function hostPage(row: (cells: readonly string[]) => string): string {
  const table = (programs: typeof clusterPrograms) => {
    const rows = Object.entries(programs).map(([name, { summary }]) => row([`\`${name}\``, summary]));
    return ["| Section | Program |", "|---|---|", ...rows].join("\n");
  };
  return `# \`fairlead cluster\` and \`fairlead node\`

<!-- Generated from the tables in src/commands/host; run \`npm run docs\` after changing them. -->

What they are for, and how to switch to them: [cluster.md](../cluster.md).

## Programs of \`cluster\`

${table(clusterPrograms)}

## Programs of \`node\`

${table(nodePrograms)}

## Flags of the process

Set them on the command line or, without the dashes, in section \`process\` of the file; the command line takes precedence. \`config\`,
\`help\` and \`version\` can only be given on the command line.

${flagReference(sections).replaceAll(/^## /gm, "### ")}
## Sections of programs

A section takes the flags of its program's own command, except those of the process.

${Object.entries(clusterPrograms).map(sectionText).join("\n")}`;
}

function sectionText([name, { flags, leaseFlags, replaced }]: readonly [string, HostedProgram]): string {
  const process = processFlags("fairlead-cluster");
  const own = Object.keys(flags).filter(
    (flag) => !Object.hasOwn(process, flag) && !Object.hasOwn(replaced, flag) && flags[flag]?.deprecated === undefined,
  );
  const list = (names: readonly string[]) =>
    [...names]
      .sort()
      .map((flag) => `\`${flag}\``)
      .join(", ");
  return `### \`${name}\`

Flags: ${list(own)}.

${leaseFlags.length === 0 ? "It has no Lease of its own." : `The program's own Lease, which the process holds as well: ${list(leaseFlags)}.`}
`;
}
