/** How the stand-in provider plans: what stays as it is, what is known only afterwards, and what must be replaced. Pure. */
import { isDeepStrictEqual } from "node:util";
import { unknown, type Value } from "./msgpack.ts";
import type { ResourceType } from "./plugin.ts";
import type { AttributeSchema, BlockSchema, ValueType } from "./schema.ts";

/** A resource's arguments and attributes by name. */
export type Fields = Readonly<Record<string, Value>>;

export interface PlanInput {
  readonly block: BlockSchema;
  readonly type: Pick<ResourceType, "plain" | "fixed" | "affects">;
  readonly prior: Fields | null;
  /** The configuration, with prior values where it leaves to the provider what they are. */
  readonly proposed: Fields;
  readonly config: Fields;
}

/** The state after the change, and the arguments for which the resource has to be made anew. */
export function planned({ block, type, prior, proposed, config }: PlanInput): {
  readonly state: Fields;
  readonly replace: readonly string[];
} {
  const state: Record<string, Value> = { ...proposed };
  if (prior === null) {
    for (const [name, { use }] of Object.entries(block.attributes)) {
      if (isFilled(name, use, type.plain) && config[name] === null) state[name] = unknown;
    }
    if (config.tags !== undefined) state.tags_all = config.tags;
    for (const [name, { nesting }] of Object.entries(block.blocks)) {
      if (nesting !== "single")
        state[name] = (proposed[name] as readonly Fields[]).map((each) => withUnknowns(block.blocks[name]!.block, each));
    }
    return { state, replace: [] };
  }
  // A list of blocks that the configuration does not write stays what it was; tags of everything are those of the resource.
  for (const [name, { nesting }] of Object.entries(block.blocks)) {
    if (nesting === "single") continue;
    if ((config[name] as readonly Value[]).length === 0) state[name] = prior[name]!;
    else state[name] = (proposed[name] as readonly Fields[]).map((each, index) => keeping(each, (prior[name] as readonly Fields[])[index]));
  }
  if (isEmpty(config.tags) && isEmpty(prior.tags)) {
    // No tags and an empty map of them are the same.
    if (prior.tags !== undefined) Object.assign(state, { tags: prior.tags, tags_all: prior.tags_all });
  } else state.tags_all = config.tags ?? {};
  const changed = (name: string) => !isDeepStrictEqual(state[name], prior[name]);
  const replace = (type.fixed ?? []).filter(changed);
  for (const [name, affected] of Object.entries(type.affects ?? {})) {
    if (!changed(name)) continue;
    for (const each of affected) if (config[each] === null || config[each] === undefined) state[each] = unknown;
  }
  return { state, replace };
}

/** Whether the provider gives an argument or attribute its value when the configuration does not. */
export function isFilled(name: string, use: AttributeSchema["use"], plain: readonly string[] = []): boolean {
  return use === "computed" || (use === "optional" && name !== "tags" && !plain.includes(name));
}

function isEmpty(tags: Value | undefined): boolean {
  return tags === undefined || tags === null || (typeof tags === "object" && Object.keys(tags).length === 0);
}

/** The arguments that a nested block leaves to the provider. */
function withUnknowns(block: BlockSchema, fields: Fields): Fields {
  const decided = (name: string) => name === "tags" || fields[name] !== null;
  return Object.fromEntries(Object.keys(block.attributes).map((name) => [name, decided(name) ? fields[name]! : unknown]));
}

/** OpenTofu fills such gaps by itself only as long as nothing else in the block changes. */
function keeping(fields: Fields, before: Fields | undefined): Fields {
  if (before === undefined) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value === null && name !== "tags" ? before[name]! : value]),
  );
}

/** The state with every field that its type has: what nobody gave is null, and nothing stays unknown. */
export function completed(block: BlockSchema, fields: Fields): Fields {
  return {
    ...Object.fromEntries(Object.entries(block.attributes).map(([name, { type }]) => [name, shaped(type, fields[name])])),
    ...Object.fromEntries(
      Object.entries(block.blocks).map(([name, { nesting, block: inner }]) => {
        if (nesting === "single")
          return [name, fields[name] === undefined || fields[name] === null ? null : completed(inner, fields[name] as Fields)];
        return [name, ((fields[name] ?? []) as readonly Fields[]).map((each) => completed(inner, each))];
      }),
    ),
  };
}

function shaped(type: ValueType, value: Value | undefined): Value {
  if (value === undefined || value === null || value === unknown) return null;
  if (typeof type === "string") return value;
  const [kind, inner] = type;
  if (kind === "object")
    return Object.fromEntries(Object.entries(inner).map(([name, each]) => [name, shaped(each, (value as Fields)[name])]));
  return value;
}
