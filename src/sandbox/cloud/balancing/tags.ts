/** Tags on load balancers of both services, and their limits. */
import { ServiceError } from "../errors.ts";

/** Values by key. */
export type Tags = Readonly<Record<string, string>>;

/** How many resources one call may describe the tags of. */
export const TAGGED_AT_ONCE = 20;

const MAX_TAGS = 50;
const MAX_KEY = 128;
const MAX_VALUE = 256;

interface TagInput {
  readonly Key?: string | undefined;
  readonly Value?: string | undefined;
}

/** The tags with the new ones laid over them. */
export function withTags(tags: Tags, added: readonly TagInput[] | undefined): Tags {
  const merged: Record<string, string> = { ...tags };
  const seen = new Set<string>();
  for (const { Key: key = "", Value: value = "" } of added ?? []) {
    checkTag(key, value);
    if (seen.has(key)) throw new ServiceError("DuplicateTagKeys", `Tag keys should be unique: '${key}' is given more than once`);
    seen.add(key);
    merged[key] = value;
  }
  if (Object.keys(merged).length > MAX_TAGS) {
    throw new ServiceError("TooManyTags", `The maximum number of tags (${MAX_TAGS}) has been reached for this resource`);
  }
  return merged;
}

/** The tags without some keys; keys that are not there do not matter. */
export function withoutTags(tags: Tags, keys: readonly (string | undefined)[]): Tags {
  return Object.fromEntries(Object.entries(tags).filter(([key]) => !keys.includes(key)));
}

/** Tags as answers carry them. */
export function tagList(tags: Tags): { Key: string; Value: string }[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}

/** AWS checks `elasticloadbalancing:AddTags` beside a creation that tags. */
export function needsAddTags(input: { readonly Tags?: readonly unknown[] | undefined }): readonly string[] {
  return (input.Tags?.length ?? 0) > 0 ? ["elasticloadbalancing:AddTags"] : [];
}

/** Refuses a call that names more resources than AWS takes at once. */
export function checkTagged(names: readonly unknown[], parameter: string): void {
  if (names.length > TAGGED_AT_ONCE) {
    throw new ServiceError("ValidationError", `${parameter}: at most ${TAGGED_AT_ONCE} may be given at once`);
  }
}

function checkTag(key: string, value: string): void {
  if (key === "" || key.length > MAX_KEY) throw new ServiceError("ValidationError", `A tag key must have 1 to ${MAX_KEY} characters`);
  if (value.length > MAX_VALUE) throw new ServiceError("ValidationError", `A tag value must have at most ${MAX_VALUE} characters`);
  if (key.toLowerCase().startsWith("aws:")) {
    throw new ServiceError("ValidationError", `The tag key '${key}' is reserved: it starts with 'aws:'`);
  }
}
