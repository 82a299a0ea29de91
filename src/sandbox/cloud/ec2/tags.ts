/** Tags on EC2 resources: their limits, and how they come with a new resource. */
import type { ResourceType, Tag, TagSpecification } from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import type { Kind } from "./kinds.ts";
import type { Tags } from "./state.ts";

const MAX_TAGS = 50;
const MAX_KEY = 128;
const MAX_VALUE = 256;

/** The tags with the new ones laid over them, within AWS's limits. Tags AWS set itself (`aws:…`) do not count. */
export function withTags(tags: Tags, added: readonly Tag[] | undefined): Tags {
  if (added === undefined || added.length === 0) return tags;
  const merged: Record<string, string> = { ...tags };
  for (const tag of added) {
    const key = checkedKey(tag.Key);
    const value = tag.Value ?? "";
    if (value.length > MAX_VALUE) {
      throw new ServiceError("InvalidParameterValue", `Tag value exceeds the maximum length of ${MAX_VALUE} characters`);
    }
    merged[key] = value;
  }
  if (Object.keys(merged).filter((key) => !key.startsWith("aws:")).length > MAX_TAGS) {
    throw new ServiceError("TagLimitExceeded", `The maximum number of Tags for a resource has been reached.`);
  }
  return merged;
}

/** A tag key that users may set. */
export function checkedKey(key: string | undefined): string {
  if (key === undefined || key === "") throw new ServiceError("InvalidParameterValue", "Tag key cannot be null or empty");
  if (key.length > MAX_KEY) throw new ServiceError("InvalidParameterValue", `Tag key exceeds the maximum length of ${MAX_KEY} characters`);
  if (key.toLowerCase().startsWith("aws:")) {
    throw new ServiceError("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use");
  }
  return key;
}

/** The tags a TagSpecifications parameter has for one kind of resource; `allowed` are the kinds the call makes. */
export function specifiedTags(
  specifications: readonly TagSpecification[] | undefined,
  kind: Kind,
  allowed: readonly Kind[] = [kind],
): Tags {
  let tags: Tags = {};
  for (const { ResourceType: type, Tags: added } of specifications ?? []) {
    if (!allowed.some((other) => other.type === type)) {
      throw new ServiceError("InvalidParameterValue", `'${type ?? ""}' is not a valid taggable resource type for this operation.`);
    }
    if (type === kind.type) tags = withTags(tags, added);
  }
  return tags;
}

/** Whether a call also tags, which AWS checks as `ec2:CreateTags`. */
export function needsCreateTags(input: { readonly TagSpecifications?: readonly TagSpecification[] | undefined }): readonly string[] {
  return input.TagSpecifications?.some((specification) => (specification.Tags?.length ?? 0) > 0) ? ["ec2:CreateTags"] : [];
}

/** Tags as a list, the way answers carry them. */
export function tagList(tags: Tags): Tag[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}

/** A TagSpecifications parameter, for those who build requests. */
export function tagSpecification(kind: Kind, tags: Tags): TagSpecification[] {
  return [{ ResourceType: kind.type as ResourceType, Tags: tagList(tags) }];
}
