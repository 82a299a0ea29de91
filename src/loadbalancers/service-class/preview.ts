/** Everything that would be done for a Service with a load balancer class, and nothing of it done. */
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import { reconcileAges } from "../inventory.ts";
import type { Problem } from "../model.ts";
import { boundNetwork } from "../network/bound-kind.ts";
import type { FoundNetwork } from "../network/find.ts";
import { leftovers, planRemoval } from "../remove.ts";
import { claimOf, type ServiceClaim } from "../service-claim.ts";
import type { SeenService } from "../service-state.ts";
import { targetGroupDeletion } from "../target-group-plan.ts";
import { ownerOf } from "./owner.ts";
import { classFinalizer } from "./seen.ts";
import { type ClassSurvey, type SurveyParts, surveyService } from "./survey.ts";

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
  { view: service, published }: Pick<SeenService, "view" | "published">,
  parts: SurveyParts,
  ask: Ask,
): Promise<ClassPreview | undefined> {
  const { settings, inventory } = parts;
  const claim = claimOf(service, { loadBalancerClass: settings.loadBalancerClass, loadBalancersOnly: settings.gates.loadBalancersOnly });
  const isGuarded = service.finalizers.includes(classFinalizer);
  if (claim.kind === "ours") {
    const depth = { readsAttributes: true, published: published.map(({ hostname }) => hostname) };
    const survey = await surveyService(service, parts, depth, ask);
    const { seen, desire, replaced } = survey;
    const deletion = (some: readonly FoundNetwork[]) => some.flatMap((lb) => boundNetwork.planDeletion(lb, "Service"));
    // Where the old one has to go first, what is made in its place is planned when it is gone.
    const steps =
      replaced.inTheWay.length > 0
        ? deletion(replaced.inTheWay)
        : [...seen.steps, ...deletion(replaced.loadBalancers), ...replaced.targetGroups.map(targetGroupDeletion)];
    return { claim, steps: seen.problems.length > 0 ? [] : steps, problems: seen.problems, warnings: desire.warnings, survey };
  }
  if (!isGuarded && claim.kind === "not-ours") return undefined;
  const warnings = claim.kind === "unclear" ? [{ message: claim.message }] : [];
  if (!isGuarded) return { claim, steps: [], problems: [], warnings };
  const owner = ownerOf(service, settings);
  const left = await leftovers(owner, { inventory, settings: { disableNodeIngress: true } }, owner.kinds, reconcileAges, ask);
  return { claim, steps: planRemoval(left, owner), problems: [], warnings };
}
