/** Everything that would be done for a Service with a load balancer class, and nothing of it done. */
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import { reconcileAges } from "../inventory.ts";
import type { Problem } from "../model.ts";
import { boundNetwork } from "../network/bound-kind.ts";
import type { FoundNetwork } from "../network/find.ts";
import { leftovers, planRemoval } from "../remove.ts";
import { claimOf, type ServiceClaim } from "../service-claim.ts";
import { ownerOf } from "./owner.ts";
import { classFinalizer } from "./seen.ts";
import { type ClassSurvey, type SurveyParts, surveyService } from "./survey.ts";
import type { ServiceView } from "./view.ts";

export interface ClassPreview {
  readonly claim: ServiceClaim;
  /** In the order they are carried out. */
  readonly steps: readonly Step[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Undefined where everything has only to go. */
  readonly survey?: ClassSurvey;
}

/** Undefined for a Service that this controller has nothing to do with. */
export async function previewClassService(
  service: ServiceView & { readonly finalizers: readonly string[] },
  parts: SurveyParts,
  ask: Ask,
): Promise<ClassPreview | undefined> {
  const { settings, inventory } = parts;
  const claim = claimOf(service, { loadBalancerClass: settings.loadBalancerClass, loadBalancersOnly: settings.gates.loadBalancersOnly });
  const isGuarded = service.finalizers.includes(classFinalizer);
  if (claim.kind === "ours") {
    const survey = await surveyService(service, parts, { readsAttributes: true }, ask);
    const { seen, desire } = survey;
    const replaces = seen.problems.length === 0 && seen.found !== undefined && seen.found.internal !== desire.model.internal;
    // What would be made in its place is planned when it is gone.
    const steps = replaces ? boundNetwork.planDeletion(seen.found as FoundNetwork, "Service") : seen.steps;
    return { claim, steps, problems: seen.problems, warnings: desire.warnings, survey };
  }
  if (!isGuarded && claim.kind === "not-ours") return undefined;
  const warnings = claim.kind === "unclear" ? [{ message: claim.message }] : [];
  if (!isGuarded) return { claim, steps: [], problems: [], warnings };
  const owner = ownerOf(service, settings);
  const left = await leftovers(owner, { inventory, settings: { disableNodeIngress: true } }, owner.kinds, reconcileAges, ask);
  return { claim, steps: planRemoval(left, owner), problems: [], warnings };
}
