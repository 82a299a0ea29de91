/** What a checkpoint of a Gateway's load balancer is made from. */
import { checkpointDigest } from "../checkpoints.ts";
import type { Survey } from "../survey.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import type { GatewayDesire } from "./desire.ts";

interface SeenParts {
  readonly loadBalancer?: { readonly arn: string };
  readonly targetGroups: readonly SeenTargetGroup[];
}

/** A digest of everything that a glance does not see: what it is to be or, with what was made, what it has come to. */
export function checkpointOf(
  { model, balancers }: Pick<GatewayDesire, "model" | "balancers">,
  { kind, seen }: Pick<Survey, "kind" | "seen">,
  made?: ReadonlyMap<string, string>,
): string {
  const { attributes, capacity, tags } = model;
  const { loadBalancer } = seen as unknown as SeenParts;
  const { targetGroups } = kind.afterParts(model, seen, made ?? new Map()) as unknown as SeenParts;
  const arn = loadBalancer?.arn ?? made?.get(`load balancer ${model.name}`);
  const groups = model.targetGroups.map((group, i) => [group.name, targetGroups[i]?.arn, group.attributes, balancers.get(group.name)]);
  const listeners = made ? withSecretsSent(model.listeners) : model.listeners;
  return checkpointDigest([arn, listeners, tags, attributes, capacity, groups]);
}

/** The Secrets of log-ins that had changed are at AWS now. */
const withSecretsSent = (listeners: GatewayDesire["model"]["listeners"]): unknown =>
  JSON.parse(JSON.stringify(listeners, (key, value: unknown) => (key === "secretChanged" ? false : value)));
