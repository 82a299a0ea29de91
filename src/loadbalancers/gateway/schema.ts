/** How the definitions of the configuration objects are written. */
export type Schema = Readonly<Record<string, unknown>>;

export const text = (description: string, more: Schema = {}): Schema => ({ type: "string", description, ...more });
export const oneOf = (description: string, values: readonly string[], more: Schema = {}): Schema =>
  text(description, { enum: values, ...more });
export const flag = (description: string, more: Schema = {}): Schema => ({ type: "boolean", description, ...more });
export const integer = (description: string, more: Schema = {}): Schema => ({ type: "integer", format: "int32", description, ...more });
export const list = (description: string, items: Schema, more: Schema = {}): Schema => ({ type: "array", description, items, ...more });
export const texts = (description: string, more: Schema = {}): Schema => list(description, { type: "string" }, more);
export const map = (description: string, values: Schema = { type: "string" }, more: Schema = {}): Schema => ({
  type: "object",
  description,
  additionalProperties: values,
  ...more,
});
export const object = (description: string, properties: Readonly<Record<string, Schema>>, more: Schema = {}): Schema => ({
  type: "object",
  description,
  properties,
  ...more,
});

/** Rules in CEL, each with what is said when it does not hold. */
export const rules = (...all: readonly (readonly [rule: string, message: string])[]): Schema => ({
  "x-kubernetes-validations": all.map(([rule, message]) => ({ rule, message })),
});

export const pair = object("A key and its value.", { key: text("The key."), value: text("The value.") }, { required: ["key", "value"] });

export interface Definition {
  readonly kind: string;
  readonly plural: string;
  readonly description: string;
  readonly spec: Schema;
  readonly status: Schema;
  readonly columns?: readonly Schema[];
}

/** Two versions of one schema; the older one warns whoever uses it. */
export function definitionOf({ kind, plural, description, spec, status, columns = [] }: Definition) {
  const version = (name: string, isStored: boolean) => ({
    name,
    served: true,
    storage: isStored,
    ...(!isStored && {
      deprecated: true,
      deprecationWarning: `gateway.k8s.aws/${name} ${kind} is deprecated; use gateway.k8s.aws/v1 instead`,
    }),
    subresources: { status: {} },
    additionalPrinterColumns: [...columns, { name: "AGE", type: "date", jsonPath: ".metadata.creationTimestamp" }],
    schema: {
      openAPIV3Schema: object(description, {
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: { type: "object" },
        spec,
        status,
      }),
    },
  });
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.gateway.k8s.aws`, labels: { "app.kubernetes.io/part-of": "fairlead" } },
    spec: {
      group: "gateway.k8s.aws",
      scope: "Namespaced",
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [version("v1", true), version("v1beta1", false)],
    },
  };
}
