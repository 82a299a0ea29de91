/** What flags and feature gates say about Services with a load balancer class. */
import { type ControllerGates, type ControllerSettings, defaultControllerSettings } from "../controller-settings.ts";

export interface ClassSettings extends ControllerSettings {
  /** `--load-balancer-class` */
  readonly loadBalancerClass: string;
  /** How soon a load balancer that AWS is still making is looked at again, where capacity is to be reserved. */
  readonly stabilizationMs: number;
  readonly gates: ClassGates;
}

export interface ClassGates extends ControllerGates {
  readonly loadBalancersOnly: boolean;
  readonly securityGroups: boolean;
  readonly tcpUdpListener: boolean;
}

export const defaultSettings: Omit<ClassSettings, "cluster" | "vpc"> = {
  ...defaultControllerSettings,
  loadBalancerClass: "service.k8s.aws/nlb",
  stabilizationMs: 120_000,
  gates: { ...defaultControllerSettings.gates, loadBalancersOnly: false, securityGroups: true, tcpUdpListener: false },
};
