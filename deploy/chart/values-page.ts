/**
 * Takes the comments of values.yaml to where people look for them: the descriptions of values.schema.json, which editors and
 * `helm show values` readers see, and the table in README.md.
 *
 *     node deploy/chart/values-page.ts
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";

/** As much of a JSON schema as is walked. */
export interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [keyword: string]: unknown;
}

/** The comment above each key of a values file, by the path of the key. A comment belongs to the key right below it. */
export function commentsIn(text: string): ReadonlyMap<string, string> {
  const comments = new Map<string, string>();
  const path: { readonly indent: number; readonly key: string }[] = [];
  let pending: string[] = [];
  for (const line of text.split("\n")) {
    const comment = /^ *# ?(.*)$/.exec(line)?.[1];
    if (comment !== undefined) pending.push(comment);
    const [, spaces = "", key] = /^( *)([A-Za-z]\w*):(?: |$)/.exec(line) ?? [];
    if (key !== undefined) {
      while (path.length > 0 && path.at(-1)!.indent >= spaces.length) path.pop();
      path.push({ indent: spaces.length, key });
      if (pending.length > 0) comments.set(path.map((step) => step.key).join("."), pending.join(" "));
    }
    if (comment === undefined) pending = [];
  }
  return comments;
}

/** The schema with these descriptions. Keys whose values have keys of their own are described by those. */
export function described(schema: Schema, comments: ReadonlyMap<string, string>, path: readonly string[] = []): Schema {
  const { description: _, properties, ...rest } = schema;
  const comment = comments.get(path.join("."));
  const inner = Object.entries(properties ?? {}).map(([key, value]) => [key, described(value, comments, [...path, key])]);
  const kept = path.length === 0 ? schema.description : comment;
  return {
    ...(kept && { description: kept }),
    ...rest,
    ...(properties && { properties: Object.fromEntries(inner) as Schema["properties"] }),
  };
}

/** One value: its path, its default and what it is for. */
export interface Row {
  readonly path: string;
  readonly fallback: unknown;
  readonly description: string | undefined;
}

/** Every value that has none below it, in the order of the schema. */
export function rowsOf(schema: Schema, values: unknown, path: readonly string[] = []): readonly Row[] {
  if (path.length > 0 && schema.properties === undefined) {
    return [{ path: path.join("."), fallback: values, description: schema.description }];
  }
  return Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => {
    const value = (values as Readonly<Record<string, unknown>> | undefined)?.[key];
    // What Helm passes to every chart is no value of ours.
    return key === "global" && path.length === 0 ? [] : rowsOf(inner, value, [...path, key]);
  });
}

/** The page of the chart. */
export function page(rows: readonly Row[]): string {
  const lines = rows.map(({ path, fallback, description = "" }) => {
    const shown = fallback === undefined || fallback === "" ? "" : `\`${JSON.stringify(fallback)}\``;
    return `| \`${path}\` | ${shown.replaceAll("|", "\\|")} | ${description.replaceAll("|", "\\|")} |`;
  });
  return `# The Fairlead chart

One chart for every program; each has its own section of values and is switched on or off by \`enabled\`.

    helm upgrade --install fairlead deploy/chart --namespace kube-system --set image.repository=registry.example.org/fairlead

How to install and why: [docs/install.md](../../docs/install.md). How to remove it: [docs/uninstall.md](../../docs/uninstall.md).

<!-- Generated from values.yaml: change its comments and run \`npm run docs\`. -->

| Value | Default | Meaning |
|---|---|---|
${lines.join("\n")}
`;
}

/** Both files, as they should be. */
export async function render(folder: string): Promise<{ readonly schema: Schema; readonly readme: string }> {
  const text = await readFile(join(folder, "values.yaml"), "utf8");
  const schema = described(JSON.parse(await readFile(join(folder, "values.schema.json"), "utf8")) as Schema, commentsIn(text));
  return { schema, readme: page(rowsOf(schema, parse(text))) };
}

if (import.meta.main) {
  const { schema, readme } = await render(import.meta.dirname);
  await writeFile(join(import.meta.dirname, "values.schema.json"), `${JSON.stringify(schema, undefined, 2)}\n`);
  await writeFile(join(import.meta.dirname, "README.md"), readme);
}
