/** What flags and feature gates say about Ingresses. */
import type { Guards, Tags } from "../model.ts";

export interface IngressSettings {
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
  readonly toleratesMissingService: boolean;
  readonly toleratesMissingAction: boolean;
  readonly allowedAuthorities: readonly string[];
  /** `--enable-wafv2`, `--enable-waf` and `--enable-shield`: what is not here is never called. */
  readonly guards: readonly (keyof Guards)[];
  readonly gates: IngressGates;
}

export interface IngressGates {
  readonly listenerRulesTagging: boolean;
  readonly weightedTargetGroups: boolean;
  readonly ipTargetType: boolean;
  readonly subnetsClusterTagCheck: boolean;
  readonly subnetDiscoveryByReachability: boolean;
  readonly singleSubnet: boolean;
  readonly capacityReservation: boolean;
  readonly enhancedDefaults: boolean;
  readonly defaultTagsLowPriority: boolean;
  readonly healthCheckAdvanced: boolean;
}

export const defaultGates: IngressGates = {
  listenerRulesTagging: true,
  weightedTargetGroups: true,
  ipTargetType: true,
  subnetsClusterTagCheck: true,
  subnetDiscoveryByReachability: true,
  singleSubnet: false,
  capacityReservation: true,
  enhancedDefaults: false,
  defaultTagsLowPriority: false,
  healthCheckAdvanced: true,
};

export const defaultSettings: Omit<IngressSettings, "cluster" | "vpc"> = {
  defaultTags: {},
  externalManagedTags: [],
  defaultTargetType: "instance",
  defaultScheme: "internal",
  defaultSslPolicy: "ELBSecurityPolicy-2016-08",
  sharesBackendGroup: true,
  managesBackendRules: false,
  restrictsRules: true,
  toleratesMissingService: true,
  toleratesMissingAction: true,
  allowedAuthorities: [],
  guards: ["webAcl", "classicWebAcl", "shield"],
  gates: defaultGates,
};
