/** What flags and feature gates say about Gateways. */
import { type ControllerGates, type ControllerSettings, defaultControllerSettings } from "../controller-settings.ts";
import type { Guards } from "../model.ts";

export interface GatewaySettings extends ControllerSettings {
  readonly allowedAuthorities: readonly string[];
  /** `--enable-wafv2` and `--enable-shield`: what is not here is never called. */
  readonly guards: readonly (keyof Guards)[];
  readonly gates: ControllerGates & { readonly singleSubnet: boolean };
}

export const defaultSettings: Omit<GatewaySettings, "cluster" | "vpc"> = {
  ...defaultControllerSettings,
  allowedAuthorities: [],
  guards: ["webAcl", "shield"],
  gates: { ...defaultControllerSettings.gates, singleSubnet: false },
};
