/**
 * What a group asks for, in the form that the reference writes to the annotation `dry-run-plan`. Of the load balancer in front only
 * its target groups are in it. Pure.
 */
import { stackResources, stackText } from "../stack-json.ts";
import { type GroupDesire, managedSource } from "./desire.ts";
import { type GroupId, stackOf } from "./groups.ts";

const front = "FrontendNLBTargetGroup";

export function stackJson(group: GroupId, desire: Pick<GroupDesire, "model" | "bindings" | "frontend"> | undefined): string {
  const resources = desire ? stackResources({ ...desire, managedSource }) : {};
  const { model, ports } = desire?.frontend ?? {};
  const inFront = Object.fromEntries(
    (model?.targetGroups ?? []).map(({ name, port }) => [name, { Name: name, Port: port, TargetPort: ports?.get(name) }]),
  );
  return stackText(stackOf(group), { ...resources, [front]: { [front]: { TargetGroups: inFront } } });
}
