/** Tags of what is made for a Service: the user's, those of flags, and the marks by which it is found. */
import type { Tags } from "../model.ts";
import type { Draft } from "./draft.ts";
import { trackingTags } from "./names.ts";
import { ServiceFault } from "./reader.ts";

/** All that a part carries: whose it is goes before everything. */
export function tagsOf({ read, of, settings }: Draft, part: string): Tags {
  const { cluster, defaultTags, externalManagedTags, gates } = settings;
  const user = read.get("aws-load-balancer-additional-resource-tags") ?? {};
  const foreign = Object.keys(user).find((key) => externalManagedTags.includes(key));
  if (foreign !== undefined) throw new ServiceFault(`external managed tag key ${foreign} cannot be specified on Service`);
  const given = gates.defaultTagsLowPriority ? { ...defaultTags, ...user } : { ...user, ...defaultTags };
  return { ...given, ...trackingTags(cluster, of, part) };
}
