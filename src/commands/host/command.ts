/** A command that hosts programs: `fairlead cluster`, `fairlead node`. */
import { exitStatus } from "../../process/exit.ts";
import { type FlagSection, flagLines } from "../../runtime/flags.ts";
import type { Command } from "../command.ts";
import { longRunning } from "../long-running.ts";
import { globalFlagsReader } from "../read-flags.ts";
import { processFlags, processSections } from "./flags.ts";
import type { HostedPrograms } from "./hosted.ts";
import { check, settle } from "./settle.ts";

export interface HostCommand {
  readonly name: string;
  /** Its name in Events and the user agent. */
  readonly component: string;
  /** The lease that it leads by; undefined where it is alone, on its node. */
  readonly lease: string | undefined;
  readonly description: string;
  readonly programs: HostedPrograms;
}

/** The flags of the process, by section. */
export function hostSections({ lease }: HostCommand): readonly FlagSection[] {
  return processSections(lease);
}

const refused = { status: exitStatus.usage, told: "briefly" } as const;

/** The command. */
export function hostCommand(host: HostCommand): Command {
  const { component, lease, description, programs } = host;
  const name = `fairlead ${host.name}`;
  const flags = processFlags(lease);
  const rows = Object.entries(programs).map(([program, { summary }]) => `  ${program}: ${summary}`);
  return longRunning({
    name,
    description,
    footer: `Programs, each with a section of its name in the file of --config:\n\n${rows.join("\n")}`,
    sections: hostSections(host),
    refusals: { commandLine: refused, configuration: refused, failed: exitStatus.fatal },
    read: globalFlagsReader({
      name,
      flags,
      product: "Fairlead",
      async prepare(parsed, world) {
        const settled = await settle(parsed, flags, programs, world.files);
        const { options } = settled;
        return {
          options,
          shown: [
            ...flagLines(flags, options),
            ...settled.programs.flatMap((program) =>
              flagLines(program.program.flags, program.options).map((line) => `${program.name}: ${line}`),
            ),
          ],
          check: () => check(settled),
          maxStallMs: options["leader-elect-retry-period"] ?? 2_000,
          async operate(life) {
            const { operate } = await import("./operate.ts");
            await operate(component, settled, life, { onNode: lease === undefined });
          },
        };
      },
    }),
  });
}
