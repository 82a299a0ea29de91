/** Tags of what is made for a Gateway: its author's, those of flags, and the marks by which it is found. */
import type { Tags } from "../model.ts";
import { RouteFault } from "./fault.ts";
import type { Flavour } from "./flavours.ts";
import { trackingTags } from "./names.ts";
import type { GatewaySettings } from "./settings.ts";
import type { ObjectName } from "./view.ts";

/** All that a part carries: whose it is goes before everything. Throws a `RouteFault` for keys that others keep. */
export function tagsOf(
  user: Tags,
  of: { readonly settings: GatewaySettings; readonly flavour: Flavour; readonly gateway: ObjectName },
  part: string,
): Tags {
  const { cluster, defaultTags, externalManagedTags, gates } = of.settings;
  const foreign = Object.keys(user).find((key) => externalManagedTags.includes(key));
  if (foreign !== undefined) throw new RouteFault("UnsupportedValue", `external managed tag key ${foreign} cannot be specified`);
  const given = gates.defaultTagsLowPriority ? { ...defaultTags, ...user } : { ...user, ...defaultTags };
  return { ...given, ...trackingTags(cluster, of.flavour, of.gateway, part) };
}
