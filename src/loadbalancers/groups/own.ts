/** The security group that is made for an owner's load balancer: by its name, or by the owner's marks. */
import type { Ask } from "../../aws/ask.ts";
import type { Inventory } from "../inventory.ts";
import type { LoadBalancerKind } from "../kind.ts";
import type { Ages } from "../listing.ts";
import type { Tags } from "../model.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import type { SeenGroup } from "./managed.ts";

/** As it stands. Of several that carry the same marks one is kept, the others are left over. */
export async function ownGroup(
  owner: LoadBalancerOwner,
  kind: LoadBalancerKind,
  loadBalancer: string,
  inventory: Inventory,
  ages: Ages,
  ask: Ask,
): Promise<SeenGroup | undefined> {
  const name = kind.managedGroupName(owner, loadBalancer);
  if (!owner.marks) return inventory.group(name, ages, ask);
  const groups = await inventory.groups.all(ages.absentMs, ask, owner.key);
  const [own] = groups.filter(({ tags }) => isMarkedGroup(tags, owner)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const seen = await inventory.group(own?.name ?? name, ages, ask);
  return seen && { ...seen, owned: own !== undefined };
}

/** Whether these are the tags of the group of an owner that goes by its marks. */
export function isMarkedGroup(tags: Tags, { marks, hasMarks }: LoadBalancerOwner): boolean {
  return marks !== undefined && hasMarks(tags) && marks.partOf(tags) === marks.securityGroupPart;
}
