/**
 * Reads what arguments and attributes the AWS provider's types have out of a package generated from that provider, and
 * writes them to schema-VERSION.json, which the stand-in provider answers with:
 *
 *     npm pack @cdktf/provider-aws@19.49.1 && tar xzf cdktf-provider-aws-19.49.1.tgz
 *     node test/referees/opentofu/extract-schema.ts package
 *
 * The packages tell names, types, nesting, what is required and what is only computed. What they do not tell, the stand-in
 * decides: which arguments that may be left out get a value of the provider's, and which cannot be changed in place.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AttributeSchema, BlockSchema, ProviderSchema, ValueType } from "./schema.ts";

const resources = [
  "vpc",
  "subnet",
  "internet_gateway",
  "route_table",
  "route",
  "route_table_association",
  "eip",
  "eip_association",
  "nat_gateway",
  "security_group",
  "security_group_rule",
  "iam_role",
  "iam_role_policy",
  "iam_instance_profile",
  "key_pair",
  "instance",
  "ebs_volume",
  "volume_attachment",
  "vpc_peering_connection",
  "vpc_peering_connection_accepter",
  "egress_only_internet_gateway",
  "vpc_endpoint",
];

const dataSources = [
  "availability_zones",
  "availability_zone",
  "subnet",
  "subnets",
  "security_group",
  "caller_identity",
  "vpc",
  "route_table",
  "route_tables",
  "internet_gateway",
];

/** The body of one generated class and of the function beside it that writes its HCL. */
interface Generated {
  readonly body: string;
  readonly hcl: string;
}

class Module {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  static async read(folder: string, name: string): Promise<Module> {
    return new Module(await readFile(join(folder, "lib", name, "index.js"), "utf8"));
  }

  root(): BlockSchema {
    const [, name] = /class (\w+) extends cdkt[fn]\.Terraform(?:Resource|DataSource|Provider)\b/.exec(this.#text) ?? [];
    if (name === undefined) throw new Error("no root class");
    const body = this.#class(name);
    return this.#block({ body, hcl: /synthesizeHclAttributes\(\) \{([\s\S]*?)\n {4}\}/.exec(body)?.[1] ?? "" });
  }

  #class(name: string): string {
    const found = new RegExp(`\\nclass ${name} extends [\\s\\S]*?\\n\\}`).exec(this.#text);
    if (found === null) throw new Error(`no class ${name}`);
    return found[0];
  }

  #nested(name: string): BlockSchema {
    const plain = name.replace(/(OutputReference|List)$/, "");
    const writer = `${plain.charAt(0).toLowerCase()}${plain.slice(1)}ToHclTerraform`;
    const hcl = new RegExp(`\\nfunction ${writer}\\(struct\\) \\{[\\s\\S]*?\\n\\}`).exec(this.#text)?.[0] ?? "";
    return this.#block({ body: this.#class(`${plain}OutputReference`), hcl });
  }

  #block({ body, hcl }: Generated): BlockSchema {
    const attributes: Record<string, AttributeSchema> = {};
    const blocks: Record<string, { nesting: "list" | "set" | "single"; block: BlockSchema }> = {};
    const written = new Map(
      [...hcl.matchAll(/\n\s+(\w+): \{\s+value: (.*),\s+isBlock: (true|false),\s+type: "(\w+)",\s+storageClassType: "(\w+)"/g)].map(
        ([, name, value, isBlock, type]) => [name!, { value: value!, isBlock: isBlock === "true", type: type! }],
      ),
    );
    // A property has another name than its argument where that would be one of the class's own.
    const required = (property: string) => !body.includes(`reset${property.charAt(0).toUpperCase()}${property.slice(1)}()`);
    for (const [, property = "", getter = "", name = ""] of body.matchAll(/get (\w+)\(\) \{\s+return (.*?)\('(\w+)'\)/g)) {
      const own = written.get(name);
      const use = own === undefined ? "computed" : required(property) ? "required" : "optional";
      attributes[name] = { type: simpleType(getter, own?.type), use };
    }
    for (const [, property = "", className = "", name = "", flag] of body.matchAll(
      /this\._(\w+) = new (\w+)\(this, "(\w+)"(?:, (true|false))?\)/g,
    )) {
      const own = written.get(name);
      const inner = this.#nested(className);
      if (own?.type === "struct" && own.isBlock) blocks[name] = { nesting: "single", block: inner };
      else if (own === undefined) attributes[name] = { type: [flag === "true" ? "set" : "list", objectType(inner)], use: "computed" };
      // `false` in the writer of a list means that it is an attribute which may be written as blocks.
      else if (/listMapperHcl\(\w+, false\)/.test(own.value)) {
        attributes[name] = {
          type: [own.type === "set" ? "set" : "list", objectType(inner)],
          use: required(property) ? "required" : "optional",
        };
      } else blocks[name] = { nesting: own.type === "set" ? "set" : "list", block: inner };
    }
    // The provider's own configuration has no getters: everything is in what it writes, and nothing is required.
    for (const [name, { value, type }] of written) {
      if (name in attributes || name in blocks) continue;
      const writer = /(?:listMapperHcl\()?\b(?!listMapperHcl)(\w+)ToHclTerraform/.exec(value)?.[1] ?? "";
      if (/cdkt[fn]\./.test(value.replace(/cdkt[fn]\.listMapperHcl/, ""))) {
        const element = scalar(writer.charAt(0).toUpperCase() + writer.slice(1));
        attributes[name] = {
          type: type === "simple" ? element : [type === "map" ? "map" : type === "set" ? "set" : "list", element],
          use: "optional",
        };
      } else {
        const inner = new RegExp(`\\nfunction ${writer}ToHclTerraform\\(struct\\) \\{[\\s\\S]*?\\n\\}`).exec(this.#text)?.[0] ?? "";
        blocks[name] = { nesting: type === "set" ? "set" : "list", block: this.#block({ body: "", hcl: inner }) };
      }
    }
    return { attributes: sorted(attributes), blocks: sorted(blocks) };
  }
}

function simpleType(getter: string, written: string | undefined): ValueType {
  const map = /get(String|Number|Boolean)MapAttribute/.exec(getter)?.[1];
  if (map !== undefined) return ["map", scalar(map)];
  if (getter.includes("ListAttribute")) {
    const element = scalar(/get(Number|Boolean)?ListAttribute/.exec(getter)?.[1] ?? "String");
    return [written === "set" || getter.includes("tolist") ? "set" : "list", element];
  }
  return scalar(/get(String|Number|Boolean)Attribute/.exec(getter)?.[1] ?? "String");
}

function scalar(name: string): ValueType {
  return name === "Number" ? "number" : name === "Boolean" ? "bool" : "string";
}

function objectType({ attributes, blocks }: BlockSchema): ValueType {
  return [
    "object",
    {
      ...Object.fromEntries(Object.entries(attributes).map(([name, { type }]) => [name, type])),
      ...Object.fromEntries(
        Object.entries(blocks).map(([name, { nesting, block }]) => [name, [nesting === "set" ? "set" : "list", objectType(block)]]),
      ),
    },
  ] as ValueType;
}

function sorted<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function extract(folder: string): Promise<ProviderSchema> {
  const about = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
    readonly cdktf?: { readonly provider?: { readonly version: string } };
    readonly cdktn?: { readonly provider?: { readonly version: string } };
  };
  const version = (about.cdktf ?? about.cdktn)?.provider?.version;
  if (version === undefined) throw new Error(`${folder}/package.json does not say which provider the package was generated from`);
  const all = async (names: readonly string[], prefix: string) =>
    Object.fromEntries(
      await Promise.all(
        names.map(async (name) => [`aws_${name}`, (await Module.read(folder, `${prefix}${name.replaceAll("_", "-")}`)).root()] as const),
      ),
    );
  return {
    provider: version,
    source: `${about.name} ${about.version}`,
    configuration: (await Module.read(folder, "provider")).root(),
    resources: await all(resources, ""),
    dataSources: await all(dataSources, "data-aws-"),
  };
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error("usage: extract-schema.ts FOLDER-OF-THE-UNPACKED-PACKAGE");
  const schema = await extract(folder);
  await writeFile(join(import.meta.dirname, `schema-${schema.provider}.json`), `${JSON.stringify(schema)}\n`);
  console.log(`${schema.source}: provider ${schema.provider}`);
}
