/** Brings a load balancer to what is wanted, and the bindings that fill its target groups. */
import type { Ask } from "../../aws/ask.ts";
import type { AwsError } from "../../aws/errors.ts";
import type { Step } from "../../aws/plan.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Clock } from "../../runtime/world.ts";
import { applySurvey, type Ensured } from "../apply.ts";
import type { Inventory } from "../inventory.ts";
import { type LoadBalancerModel, managedGroups, type TargetGroup } from "../model.ts";
import type { Survey } from "../survey.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import type { Bindings } from "../targets/binding.ts";
import {
  type BindingWish,
  bindingsOf,
  deleteBindings,
  deletesBoundGroup,
  type Labels,
  type OnBindingError,
  writeBindings,
} from "../targets/owned-bindings.ts";
import { TargetSets } from "../targets/target-set.ts";
import { noTargets } from "../targets.ts";

export interface BoundParts {
  readonly inventory: Inventory;
  readonly kube: KubeClient;
  readonly bindings: Bindings;
  readonly clock: Clock;
  readonly newGroups: Parameters<typeof applySurvey>[1]["newGroups"];
  readonly onStep: (step: Step) => void;
  readonly onRefused?: (step: Step, error: AwsError) => void;
  readonly onBindingError?: OnBindingError;
}

export interface BoundWish {
  /** By which the owner's bindings are known. */
  readonly labels: Labels;
  readonly survey: Survey;
  readonly bindings: readonly BindingWish[];
  /** Stands in bindings for the id of the managed security group, which is known when it stands. */
  readonly managedSource: string;
  /** ARNs of target groups whose bindings stay, besides those that are wanted. */
  readonly kept: readonly string[];
  /** Whether nothing goes yet. */
  readonly keepsAll: boolean;
}

export interface BoundDeployed {
  readonly ensured: Ensured;
  /** ARNs by the names of target groups in the model. */
  readonly arns: ReadonlyMap<string, string | undefined>;
  readonly wroteBindings: boolean;
  /** Target groups that cannot go before their bindings have. */
  readonly postponed: number;
}

type Grouped = LoadBalancerModel & { readonly targetGroups: readonly TargetGroup[] };

export async function deployBound(wish: BoundWish, parts: BoundParts, ask: Ask): Promise<BoundDeployed> {
  const { labels, survey, managedSource } = wish;
  const own = bindingsOf(labels, parts.bindings);
  const bound = survey.steps.filter((step) => deletesBoundGroup(step, own));
  const targetSets = new TargetSets();
  const applying = { ...parts, targetSets, began: targetSets.now(), wanted: async () => noTargets };
  const ensured = await applySurvey({ ...survey, steps: survey.steps.filter((step) => !bound.includes(step)) }, applying, ask);
  const model = survey.desire.model as Grouped;
  const { made } = ensured.applied;
  const { targetGroups } = survey.kind.afterParts(model, survey.seen, made) as unknown as {
    readonly targetGroups: readonly SeenTargetGroup[];
  };
  const arns = new Map(model.targetGroups.map(({ name }, i) => [name, targetGroups[i]?.arn || undefined]));
  const [managed] = managedGroups(model);
  const groupId = survey.seen.managedGroup?.id ?? made.get(`security group ${managed?.name}`) ?? "";
  const ids = { arnOf: (name: string) => arns.get(name), groupId: (id: string) => (id === managedSource ? groupId : id) };
  const wroteBindings = await writeBindings(labels, wish.bindings, ids, parts, ask.signal, parts.onBindingError);
  if (!wish.keepsAll) {
    const kept = new Set([...arns.values(), ...wish.kept]);
    const surplus = own.filter(({ spec }) => !kept.has(spec.targetGroupARN));
    await deleteBindings(surplus, parts, ask.signal, parts.onBindingError);
  }
  return { ensured, arns, wroteBindings, postponed: bound.length };
}
