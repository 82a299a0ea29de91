/** What the model of a Service's load balancer is made from, and what is said about it on the way. */
import type { SecurityGroup } from "../../aws/security-groups.ts";
import type { Problem } from "../model.ts";
import type { FoundNetwork } from "../network/find.ts";
import type { Network } from "../subnets.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import { AnnotationReader } from "./reader.ts";
import type { ClassSettings } from "./settings.ts";
import type { ServiceView } from "./view.ts";

export interface ServiceSources {
  readonly settings: ClassSettings;
  readonly network: Network;
  /** All groups of the VPC. */
  readonly groups: readonly SecurityGroup[];
  /** The group that load balancers share towards their targets. */
  readonly backendGroup?: string;
  /** Blocks of both families; read only where a load balancer without groups may need them. */
  readonly vpcCidrs: readonly string[];
  /** The Service's load balancer that stands already. */
  readonly standing?: FoundNetwork;
  /** Target groups of the Service that stand. */
  readonly targetGroups: readonly SeenTargetGroup[];
  /** Names of target groups behind a load balancer that is being replaced. */
  readonly takenNames: readonly string[];
  /** Another Service of the namespace. */
  service(namespace: string, name: string): ServiceView | undefined;
  isForeignTag(key: string): boolean;
}

/** A model in the making. */
export interface Draft extends ServiceSources {
  readonly of: ServiceView;
  readonly read: AnnotationReader;
  warn(message: string): void;
}

export interface Drafting {
  readonly draft: Draft;
  /** Said so far. Which annotations have no effect is known when all that is asked for was read. */
  warnings(isComplete: boolean): readonly Problem[];
}

export function draftOf(service: ServiceView, sources: ServiceSources): Drafting {
  const said = new Set<string>();
  const read = new AnnotationReader(service.annotations);
  return {
    draft: { ...sources, of: service, read, warn: (message) => void said.add(message) },
    warnings: (isComplete) => [...[...said].map((message) => ({ message })), ...read.unknown(), ...(isComplete ? read.unused() : [])],
  };
}
