/** The page about fields of TargetGroupBinding, from its definition. */
import { targetGroupBindingDefinition } from "../loadbalancers/targets/crd.ts";

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly "x-kubernetes-validations"?: readonly { readonly message: string }[];
}

/** The page; `row` makes a line of a table. */
export function bindingsPage(row: (cells: readonly string[]) => string): string {
  const version = targetGroupBindingDefinition.spec.versions.at(-1) as unknown as { readonly schema: { readonly openAPIV3Schema: Schema } };
  const { spec = {}, status = {} } = version.schema.openAPIV3Schema.properties ?? {};
  const table = (schema: Schema, under: string) =>
    fieldsOf(schema, under).map(({ path, type, required, description }) =>
      row([`\`${path}\``, type, required ? "yes" : "no", description]),
    );
  const rules = rulesOf(spec).map((message) => `- ${message}`);
  return `# TargetGroupBinding

<!-- Generated from src/loadbalancers/targets/crd.ts; run \`npm run docs\` after changing it. -->

\`elbv2.k8s.aws/v1beta1\`, namespaced. [What it is for, and how it behaves](../load-balancer-controller.md).

## spec

| Field | Type | Required | Meaning |
|---|---|---|---|
${table(spec, "spec").join("\n")}

The API server refuses what breaks one of these rules:

${rules.join("\n")}

## status

| Field | Type | Required | Meaning |
|---|---|---|---|
${table(status, "status").join("\n")}
`;
}

interface Field {
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

function fieldsOf(schema: Schema, under: string): readonly Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${under}.${name}`;
    const required = schema.required?.includes(name) ?? false;
    const shown = { path, type: typeOf(field), required, description: field.description ?? "" };
    const items = field.items && { ...field.items };
    return [shown, ...fieldsOf(field, path), ...(items ? fieldsOf(items, `${path}[]`) : [])];
  });
}

function typeOf({ type = "integer or string", enum: values, items }: Schema): string {
  if (values) return values.map((value) => `\`${value}\``).join(", ");
  return type === "array" ? `list of ${items?.type ?? "values"}s` : type;
}

function rulesOf(schema: Schema): readonly string[] {
  const own = schema["x-kubernetes-validations"]?.map(({ message }) => message) ?? [];
  const inner = [...Object.values(schema.properties ?? {}), ...(schema.items ? [schema.items] : [])].flatMap(rulesOf);
  return [...own, ...inner];
}
