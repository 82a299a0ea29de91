/** What flags and feature gates say about Ingresses. */
import { type ControllerGates, type ControllerSettings, defaultControllerSettings } from "../controller-settings.ts";
import type { Guards } from "../model.ts";

export interface IngressSettings extends ControllerSettings {
  readonly toleratesMissingService: boolean;
  readonly toleratesMissingAction: boolean;
  readonly allowedAuthorities: readonly string[];
  /** `--enable-wafv2`, `--enable-waf` and `--enable-shield`: what is not here is never called. */
  readonly guards: readonly (keyof Guards)[];
  readonly gates: IngressGates;
}

export interface IngressGates extends ControllerGates {
  readonly singleSubnet: boolean;
}

export const defaultSettings: Omit<IngressSettings, "cluster" | "vpc"> = {
  ...defaultControllerSettings,
  toleratesMissingService: true,
  toleratesMissingAction: true,
  allowedAuthorities: [],
  guards: ["webAcl", "classicWebAcl", "shield"],
  gates: { ...defaultControllerSettings.gates, singleSubnet: false },
};
