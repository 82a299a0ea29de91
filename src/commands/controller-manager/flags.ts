/** Every flag of `fairlead controller-manager`, by section. */

import { globalFlags } from "../../process/flags.ts";
import { authenticationFlags, authorizationFlags, debuggingFlags, secureServingFlags } from "../../process/secure-port-flags.ts";
import { type FlagSection, type FlagValues, type ParsedFlags, parseFlags } from "../../runtime/flags.ts";
import {
  genericFlags,
  leaderMigrationFlags,
  miscFlags,
  nodeFlags,
  nodeLifecycleFlags,
  serviceFlags,
  taggingFlags,
  webhookFlags,
  webhookServingFlags,
} from "./flags-generic.ts";

/** In the order `--help` shows them. */
export const flagSections: readonly FlagSection[] = [
  { title: "Debugging", flags: debuggingFlags },
  { title: "Leader-migration", flags: leaderMigrationFlags },
  { title: "Generic", flags: genericFlags },
  { title: "Cloud-node-controller", flags: nodeFlags },
  { title: "Cloud-node-lifecycle-controller", flags: nodeLifecycleFlags },
  { title: "Service-lb-controller", flags: serviceFlags },
  { title: "Webhook", flags: webhookFlags },
  { title: "Webhook serving", flags: webhookServingFlags },
  { title: "Secure serving", flags: secureServingFlags },
  { title: "Authentication", flags: authenticationFlags },
  { title: "Authorization", flags: authorizationFlags },
  { title: "Misc", flags: miscFlags },
  { title: "Global", flags: globalFlags },
  { title: "Tagging controller", flags: taggingFlags },
];

/** All of them in one table. */
export const flagTable = {
  ...debuggingFlags,
  ...leaderMigrationFlags,
  ...genericFlags,
  ...nodeFlags,
  ...nodeLifecycleFlags,
  ...serviceFlags,
  ...webhookFlags,
  ...webhookServingFlags,
  ...secureServingFlags,
  ...authenticationFlags,
  ...authorizationFlags,
  ...miscFlags,
  ...globalFlags,
  ...taggingFlags,
};

/** The value of every flag; undefined where nobody said and Fairlead decides. */
export type Options = FlagValues<typeof flagTable>;

/** Reads the command line. */
export function parseOptions(argv: readonly string[]): ParsedFlags<typeof flagTable> {
  return parseFlags(flagTable, argv);
}
