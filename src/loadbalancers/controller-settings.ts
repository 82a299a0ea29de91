/** What flags and feature gates of the load balancer controller say to every one of its doors. */
import type { Tags } from "./model.ts";

export interface ControllerSettings {
  /** `--cluster-name` */
  readonly cluster: string;
  readonly vpc: string;
  readonly defaultTags: Tags;
  readonly externalManagedTags: readonly string[];
  readonly defaultTargetType: "instance" | "ip";
  readonly defaultScheme: "internal" | "internet-facing";
  readonly defaultSslPolicy: string;
  /** Whether load balancers share a group towards their targets. */
  readonly sharesBackendGroup: boolean;
  readonly managesBackendRules: boolean;
  /** Opens targets for single ports, and not for all. */
  readonly restrictsRules: boolean;
  readonly gates: ControllerGates;
}

export interface ControllerGates {
  readonly listenerRulesTagging: boolean;
  readonly weightedTargetGroups: boolean;
  readonly ipTargetType: boolean;
  readonly healthCheckAdvanced: boolean;
  readonly subnetsClusterTagCheck: boolean;
  readonly subnetDiscoveryByReachability: boolean;
  readonly capacityReservation: boolean;
  readonly enhancedDefaults: boolean;
  readonly defaultTagsLowPriority: boolean;
}

export const defaultControllerSettings: Omit<ControllerSettings, "cluster" | "vpc"> = {
  defaultTags: {},
  externalManagedTags: [],
  defaultTargetType: "instance",
  defaultScheme: "internal",
  defaultSslPolicy: "ELBSecurityPolicy-2016-08",
  sharesBackendGroup: true,
  managesBackendRules: false,
  restrictsRules: true,
  gates: {
    listenerRulesTagging: true,
    weightedTargetGroups: true,
    ipTargetType: true,
    healthCheckAdvanced: true,
    subnetsClusterTagCheck: true,
    subnetDiscoveryByReachability: true,
    capacityReservation: true,
    enhancedDefaults: false,
    defaultTagsLowPriority: false,
  },
};
