/** The cases of the suite, in the order they are run. */
import { ingressCases } from "./cases-ingress.ts";
import { interruptionCases } from "./cases-interruptions.ts";
import { nodeCases } from "./cases-nodes.ts";
import { serviceCases } from "./cases-services.ts";
import { volumeCases } from "./cases-volumes.ts";
import type { Context } from "./context.ts";

export interface Case {
  readonly name: string;
  /** What it shows, as the report says it. */
  readonly checks: string;
  /** Rejects when it does not hold, with `NotHere` when it cannot be told on this cluster. */
  run(context: Context): Promise<void>;
}

export const cases: readonly Case[] = [...nodeCases, ...serviceCases, ...ingressCases, ...volumeCases, ...interruptionCases];

/** What is not among them, and why. */
export const notIncluded: Readonly<Record<string, string>> = {
  "nlb-security-group-mode-disabled":
    "it takes the controllers' cloud config away and restarts them: run the suite a second time without NLBSecurityGroupMode instead",
  "interruption-queue":
    "a notice comes through EventBridge and the queue only when AWS interrupts an instance: `fairlead doctor --features=interruptions` checks that way",
};
