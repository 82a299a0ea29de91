/** What a program is to a process that hosts several. */
import type { LeaseToHold } from "../../process/leadership.ts";
import type { Network } from "../../process/operate.ts";
import type { Program } from "../../process/program.ts";
import type { FlagSection, FlagTable, FlagValues } from "../../runtime/flags.ts";
import type { Host } from "../../runtime/host.ts";
import type { CloudConfig } from "../controller-manager/cloud-config.ts";

/** One row of a table of hosted programs: everything the host has to know of it. */
export interface HostedProgram<T extends FlagTable = FlagTable> {
  /** One line for help and the reference page. */
  readonly summary: string;
  /** All flags of its own command, those that a process has once among them. */
  readonly flags: T;
  readonly sections: readonly FlagSection[];
  /** What its command line says in every cluster. */
  readonly implied: readonly string[];
  /** Flags that name its own lease: its section takes them although the process has flags of the same names. */
  readonly leaseFlags: readonly (keyof T & string)[];
  /** Flags of its own for what a process has once under another name: refused, with where it goes. */
  readonly replaced: Readonly<Partial<Record<keyof T & string, string>>>;
  /** Throws `OptionsInvalid`; returns what works but probably not as meant. */
  check(options: FlagValues<T>): readonly string[];
  /** Loads its code, and reads the files that its flags name. */
  configure(options: FlagValues<T>, shared: SharedSettings): Promise<HostedParts>;
}

/** What the process has once. */
export interface SharedSettings {
  readonly host: Host;
  readonly cloudConfig: CloudConfig;
  readonly network: Network;
}

/** What the process runs and holds for it. */
export interface HostedParts {
  readonly program: Program;
  /** The lease by which the program alone, ours or the reference's, would lead. */
  readonly leases: readonly LeaseToHold[];
  readonly migration?: LeaseToHold;
  /** Its part of `/configz`. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

/** Programs by the names of their commands, which are those of their sections; leases are acquired in this order. */
export type HostedPrograms = Readonly<Record<string, HostedProgram>>;

/** A row whose flags are known to its own functions only. */
export function hosted<T extends FlagTable>(program: HostedProgram<T>): HostedProgram {
  return program as unknown as HostedProgram;
}
