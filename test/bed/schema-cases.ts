/** Values on either side of every rule that a schema states: what it takes, and what it refuses and in which words. */

export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
}

export interface SchemaCase {
  /** `spec.listenerConfigurations[0].alpnPolicy` */
  readonly path: string;
  readonly value: unknown;
  /** The spec with the value in its place, and nothing else. */
  readonly spec: unknown;
  /** Words of the refusal; absent: the value itself is none of its reasons. */
  readonly refusal?: RegExp;
}

/** Where a schema stands in the spec. */
interface Place {
  readonly path: string;
  readonly wrap: (value: unknown) => unknown;
}

export const schemaCases = (schema: Schema): readonly SchemaCase[] => casesAt(schema, { path: "spec", wrap: (value) => value });

function casesAt(schema: Schema, place: Place): readonly SchemaCase[] {
  const { path, wrap } = place;
  const own = ownCases(schema).map(({ value, at = "", refusal }) => ({
    path: path + at,
    value,
    spec: wrap(value),
    ...(refusal && { refusal }),
  }));
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    casesAt(inner, { path: `${path}.${name}`, wrap: (value) => wrap({ [name]: value }) }),
  );
  const items = schema.items ? casesAt(schema.items, { path: `${path}[0]`, wrap: (value) => wrap([value]) }) : [];
  return [...own, ...below, ...items];
}

interface OwnCase {
  readonly value: unknown;
  readonly at?: string;
  readonly refusal?: RegExp;
}

/** What a schema says of a value itself. */
function ownCases(schema: Schema): readonly OwnCase[] {
  const { enum: values = [], pattern, minLength, maxLength, minimum, maximum, minItems, maxItems, maxProperties, required = [] } = schema;
  const when = (limit: number | undefined, value: (limit: number) => unknown, refusal: RegExp): readonly OwnCase[] =>
    limit === undefined ? [] : [{ value: value(limit), refusal }];
  const many = (count: number) => Object.fromEntries(Array.from({ length: count + 1 }, (_, i) => [`k${i}`, "v"]));
  return [
    ...values.map((value) => ({ value })),
    ...(values.length > 0 ? [{ value: "nonsense", refusal: /Unsupported value/ }] : []),
    ...(pattern === undefined ? [] : [{ value: "\u0000", refusal: /should match/ }]),
    ...when(minLength, (limit) => "a".repeat(limit - 1), /should be at least/),
    ...when(maxLength, (limit) => "a".repeat(limit + 1), /Too long|may not be more than/),
    ...when(minimum, (limit) => limit - 1, /should be greater than or equal to/),
    ...when(maximum, (limit) => limit + 1, /should be less than or equal to/),
    ...when(minItems, (limit) => Array(limit - 1).fill({}), /should have at least/),
    ...when(maxItems, (limit) => Array(limit + 1).fill({}), /must have at most/),
    ...when(maxProperties, many, /must have at most/),
    ...required.map((name) => ({ value: {}, at: `.${name}`, refusal: /Required value/ })),
  ];
}
