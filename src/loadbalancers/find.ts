/**
 * Which load balancers are an owner's own: by the name that it alone gives, by a name of the user's choice and its marks, or,
 * where an owner goes by them alone, by its marks.
 */
import type { Ask } from "../aws/ask.ts";
import type { Inventory } from "./inventory.ts";
import type { Found, LoadBalancerKind } from "./kind.ts";
import type { Ages } from "./listing.ts";
import { kindOf, type LoadBalancerOwner, namesOf } from "./owner.ts";

export interface Sighting {
  /** The owner's own, of any kind. */
  readonly found: readonly Found[];
  /** Names that the user chose, now or before, and somebody else has. */
  readonly taken: readonly { readonly kind: string; readonly name: string }[];
}

/** Looks under every name the owner may have used, or for its marks. */
export async function findLoadBalancers(owner: LoadBalancerOwner, inventory: Inventory, ages: Ages, ask: Ask): Promise<Sighting> {
  if (owner.marks) {
    const marked = await Promise.all(owner.kinds.map((kind) => kind.findMarked(owner, inventory, ages.presentMs, ask)));
    return { found: marked.flat(), taken: [] };
  }
  const [own = "", ...others] = namesOf(owner);
  const byName = await Promise.all(owner.kinds.map((kind) => kind.find(own, inventory, ages, ask)));
  const found = byName.filter((lb) => lb !== undefined);
  const taken: Sighting["taken"][number][] = [];
  for (const kind of owner.kinds) {
    const names = new Set([...others, ...(await publishedNames(kind, owner, found, inventory, ages, ask))]);
    for (const name of names) {
      const other = name === own ? undefined : await kind.find(name, inventory, ages, ask);
      if (other === undefined) continue;
      if (await isOwn(other, owner, inventory, ask)) found.push(other);
      else if (others.includes(name)) taken.push({ kind: kind.name, name });
    }
  }
  return { found, taken };
}

/** Whether its tags say that it was made for this owner. */
export async function isOwn(lb: Found, owner: LoadBalancerOwner, inventory: Inventory, ask: Ask): Promise<boolean> {
  const tags = await kindOf(lb, owner).tags(lb, inventory, ask);
  return tags !== undefined && owner.hasMarks(tags);
}

/** The name of what the status points to, where it is none of those looked for already. */
async function publishedNames(
  kind: LoadBalancerKind,
  { hostname, key }: LoadBalancerOwner,
  found: readonly Found[],
  inventory: Inventory,
  ages: Ages,
  ask: Ask,
): Promise<readonly string[]> {
  if (hostname === "" || found.some((lb) => lb.hostname === hostname)) return [];
  return kind.namesBehind(hostname, inventory, ages.absentMs, ask, key);
}
