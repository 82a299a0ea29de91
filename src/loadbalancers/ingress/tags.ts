/** Tags of what is made for Ingresses: the user's, those of flags, and the marks by which it is found. */
import type { Tags } from "../model.ts";
import type { GroupId } from "./groups.ts";
import { MemberFault, type MemberOptions } from "./member.ts";
import { agreedByKey, type MemberFaults } from "./merge.ts";
import { trackingTags } from "./names.ts";
import type { IngressSettings } from "./settings.ts";

type TagSettings = Pick<IngressSettings, "cluster" | "defaultTags" | "externalManagedTags" | "gates">;

/** What an Ingress asks for; of a target group, also what its Service does. Throws a `MemberFault` for keys that others keep. */
export function userTags(
  { member, values, key }: MemberOptions,
  settings: TagSettings,
  service: { readonly key: string; readonly tags: Tags } | undefined = undefined,
): Tags {
  const given = Object.fromEntries((member.params?.tags ?? []).map((tag) => [tag.key, tag.value]));
  const tags = { ...values.tags, ...service?.tags, ...given };
  const foreign = Object.keys(tags).find((tag) => settings.externalManagedTags.includes(tag));
  if (foreign === undefined) return tags;
  const whose =
    foreign in given ? `IngressClassParams ${member.params?.name}` : `Ingress ${key}${service ? ` and Service ${service.key}` : ""}`;
  throw new MemberFault(`failed build tags for ${whose}: external managed tag key ${foreign} cannot be specified`);
}

/** What the members of a group ask for together. */
export function groupTags(members: readonly MemberOptions[], settings: TagSettings, faults: MemberFaults): Tags {
  return agreedByKey(
    members,
    (member) => userTags(member, settings),
    faults,
    (key, a, b) => `conflicting tag ${key}: ${a} | ${b}`,
  );
}

/** All that a thing carries: whose it is goes before everything. */
export function allTags(user: Tags, group: GroupId, part: string, { cluster, defaultTags, gates }: TagSettings): Tags {
  const given = gates.defaultTagsLowPriority ? { ...defaultTags, ...user } : { ...user, ...defaultTags };
  return { ...given, ...trackingTags(cluster, group, part) };
}
