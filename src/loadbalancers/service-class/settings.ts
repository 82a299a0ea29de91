/** What flags and feature gates say about Services with a load balancer class. */
import type { Tags } from "../model.ts";

export interface ClassSettings {
  /** `--cluster-name` */
  readonly cluster: string;
  readonly vpc: string;
  /** `--load-balancer-class` */
  readonly loadBalancerClass: string;
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
  /** How soon a load balancer that AWS is still making is looked at again, where capacity is to be reserved. */
  readonly stabilizationMs: number;
  readonly gates: ClassGates;
}

export interface ClassGates {
  readonly loadBalancersOnly: boolean;
  readonly securityGroups: boolean;
  readonly healthCheckAdvancedConfig: boolean;
  readonly ipTargetType: boolean;
  readonly weightedTargetGroups: boolean;
  readonly listenerRulesTagging: boolean;
  readonly capacityReservation: boolean;
  readonly tcpUdpListener: boolean;
  readonly subnetsClusterTagCheck: boolean;
  readonly subnetDiscoveryByReachability: boolean;
  readonly enhancedDefaults: boolean;
  readonly defaultTagsLowPriority: boolean;
}

export const defaultGates: ClassGates = {
  loadBalancersOnly: false,
  securityGroups: true,
  healthCheckAdvancedConfig: true,
  ipTargetType: true,
  weightedTargetGroups: true,
  listenerRulesTagging: true,
  capacityReservation: true,
  tcpUdpListener: false,
  subnetsClusterTagCheck: true,
  subnetDiscoveryByReachability: true,
  enhancedDefaults: false,
  defaultTagsLowPriority: false,
};

export const defaultSettings: Omit<ClassSettings, "cluster" | "vpc"> = {
  loadBalancerClass: "service.k8s.aws/nlb",
  defaultTags: {},
  externalManagedTags: [],
  defaultTargetType: "instance",
  defaultScheme: "internal",
  defaultSslPolicy: "ELBSecurityPolicy-2016-08",
  sharesBackendGroup: true,
  managesBackendRules: false,
  restrictsRules: true,
  stabilizationMs: 120_000,
  gates: defaultGates,
};
