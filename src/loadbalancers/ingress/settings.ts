/** What flags and feature gates say about Ingresses. */
import { type ControllerGates, type ControllerSettings, defaultControllerSettings } from "../controller-settings.ts";
import type { Guards } from "../model.ts";

export interface IngressSettings extends ControllerSettings {
  readonly toleratesMissingService: boolean;
  readonly toleratesMissingAction: boolean;
  readonly allowedAuthorities: readonly string[];
  /** `--default-pca-arn`: the private authority of certificates that are requested; empty: Amazon issues them. */
  readonly defaultAuthority: string;
  /** `--enable-wafv2`, `--enable-waf` and `--enable-shield`: what is not here is never called. */
  readonly guards: readonly (keyof Guards)[];
  readonly gates: IngressGates;
}

export interface IngressGates extends ControllerGates {
  readonly singleSubnet: boolean;
  readonly certificateManagement: boolean;
  readonly planAnnotation: boolean;
}

export const defaultGates: IngressGates = {
  ...defaultControllerSettings.gates,
  singleSubnet: false,
  certificateManagement: false,
  planAnnotation: false,
};

export const defaultSettings: Omit<IngressSettings, "cluster" | "vpc"> = {
  ...defaultControllerSettings,
  toleratesMissingService: true,
  toleratesMissingAction: true,
  allowedAuthorities: [],
  defaultAuthority: "",
  guards: ["webAcl", "classicWebAcl", "shield"],
  gates: defaultGates,
};
