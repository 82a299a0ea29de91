/** Security groups that a user names for a load balancer. Pure. */
import type { SecurityGroup } from "../../aws/security-groups.ts";

/** Ids first, then everything that carries one of the names. */
export function resolveGroups(
  entries: readonly string[],
  groups: readonly SecurityGroup[],
): { readonly ids: readonly string[] } | { readonly fault: string } {
  const ids = entries.filter((entry) => entry.startsWith("sg-"));
  const names = entries.filter((entry) => !entry.startsWith("sg-"));
  const known = ids.filter((id) => groups.some((group) => group.id === id));
  const named = groups.filter(({ tags }) => tags.Name !== undefined && names.includes(tags.Name));
  const foundNames = [...new Set(named.map(({ tags }) => tags.Name))];
  const faults = [
    ...(known.length < ids.length ? [`requested ids [${ids.join(", ")}] but found [${known.join(", ")}]`] : []),
    ...(foundNames.length < new Set(names).size ? [`requested names [${names.join(", ")}] but found [${foundNames.join(", ")}]`] : []),
  ];
  return faults.length > 0
    ? { fault: `couldn't find all security groups: ${faults.join(", ")}` }
    : { ids: [...ids, ...named.map(({ id }) => id)] };
}
