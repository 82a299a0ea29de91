/**
 * The programs whose set-up the doctor checks. A program that is new to it is a row here: its features, whose grants are in
 * permissions.ts, the service account that it runs as, and what it needs in the cluster.
 */
import { type AccessNeed, accessNeeds } from "./access.ts";
import type { Feature } from "./permissions.ts";

export interface CheckedProgram {
  /** What of it can be switched on by itself. */
  readonly features: readonly Feature[];
  /** Its service account in the chart; undefined for what runs as the machine itself. */
  readonly account?: string;
  /** What it needs in the cluster; a test holds it to the chart's roles. Empty: not checked. */
  readonly access: readonly AccessNeed[];
}

const table = {
  "controller-manager": {
    features: ["nodes", "load-balancers", "routes", "tagging"],
    account: "fairlead-controller-manager",
    access: accessNeeds,
  },
  "load-balancer-controller": {
    features: ["target-group-bindings", "ingresses", "ingress-certificates", "tag-index", "class-services"],
    account: "fairlead-load-balancer-controller",
    access: [],
  },
  "node-termination-handler": { features: ["interruptions"], account: "fairlead-node-termination-handler", access: [] },
  "ebs-csi-driver": { features: ["volumes"], account: "fairlead-ebs-csi-controller", access: [] },
  "cloud-data-discoverer": { features: ["discovery"], account: "fairlead-cloud-data-discoverer", access: [] },
  "ecr-credential-provider": { features: ["registry"], access: [] },
} satisfies Readonly<Record<string, CheckedProgram>>;

export type ProgramName = keyof typeof table;

export const checkedPrograms: Readonly<Record<ProgramName, CheckedProgram>> = table;

/** Every feature that can be checked. */
export const checkableFeatures: readonly Feature[] = Object.values(checkedPrograms).flatMap(({ features }) => features);

/** A program with those of its features that are to be checked. */
export interface ChosenProgram extends CheckedProgram {
  readonly name: ProgramName;
}

/** The programs that have any of these features. */
export function programsWith(features: readonly Feature[]): readonly ChosenProgram[] {
  return (Object.keys(checkedPrograms) as ProgramName[])
    .map((name) => ({ name, ...checkedPrograms[name], features: checkedPrograms[name].features.filter((each) => features.includes(each)) }))
    .filter((program) => program.features.length > 0);
}
