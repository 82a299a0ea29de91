import assert from "node:assert/strict";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import * as z from "zod";
import { exampleFile } from "../../src/discovery/artifacts/testing.ts";
import { packagedFiles } from "./packaging.ts";

const here = import.meta.dirname;

type Spec = Parameters<typeof z.fromJSONSchema>[0];

interface Versions {
  readonly apiVersions: readonly { readonly apiVersion: string; readonly openAPISpec: Spec }[];
}

async function schemaOf(file: string): Promise<z.ZodType> {
  const { apiVersions } = parse(await readFile(join(here, "openapi", file), "utf8"), { merge: true }) as Versions;
  assert.deepEqual(
    apiVersions.map(({ apiVersion }) => apiVersion),
    ["deckhouse.io/v1", "deckhouse.io/v1alpha1"],
  );
  assert.deepEqual(apiVersions[0]!.openAPISpec, apiVersions[1]!.openAPISpec);
  // zod takes alternatives for whole values; these are about which keys there are.
  const { oneOf = [], ...rest } = apiVersions[0]!.openAPISpec as { readonly oneOf?: readonly { readonly required: readonly string[] }[] };
  const exactlyOne = (value: unknown) => {
    const document = value as Readonly<Record<string, unknown>>;
    return oneOf.filter(({ required }) => required.every((key) => document[key] !== undefined)).length === 1;
  };
  const schema = z.fromJSONSchema(rest as Spec);
  return oneOf.length === 0 ? schema : schema.refine(exactlyOne, "exactly one of vpcNetworkCIDR and existingVPCID");
}

test("the schema of the configuration takes the smallest document of each layout in both versions, and names what is missing", async () => {
  const schema = await schemaOf("cluster_configuration.yaml");
  const accepts = (change: object) => schema.safeParse({ ...exampleFile.clusterConfiguration, ...change }).success;
  for (const layout of ["WithoutNAT", "WithNAT", "Standard"]) assert.ok(accepts({ layout }));
  assert.ok(accepts({ apiVersion: "deckhouse.io/v1alpha1" }));
  assert.ok(accepts({ withNAT: { bastionInstance: { instanceClass: { instanceType: "t3.small", ami: "ami-1" } } } }));
  for (const missing of ["layout", "provider", "masterNodeGroup", "sshPublicKey"]) {
    const { error } = schema.safeParse({ ...exampleFile.clusterConfiguration, [missing]: undefined });
    assert.deepEqual(error?.issues[0]?.path, [missing]);
  }
  for (const wrong of [
    { vpcNetworkCIDR: "10.10.0.0" },
    { vpcNetworkCIDR: "10.10.0.0/33" },
    { vpcNetworkCIDR: "010.10.0.0/16" },
    { existingVPCID: "vpc-1" },
    { vpcNetworkCIDR: undefined },
    { sshPublicKeys: "" },
    { standard: { bastionInstance: {} } },
    { withNAT: { bastionInstance: { instanceClass: { instanceType: "t3.small", ami: "ami-1", disk: 1 } } } },
    { zones: [] },
    { masterNodeGroup: { replicas: 0, instanceClass: { instanceType: "m5.large", ami: "ami-1" } } },
    { nodeGroups: [{ name: "a", replicas: 1 }] },
    { iamNodeRole: "a role" },
    { additionalRolePolicies: ["everything"] },
  ]) {
    assert.ok(!accepts(wrong), JSON.stringify(wrong));
  }
});

test("the schema of the discovery data refuses a bad group, an empty map and a zone of GovCloud", async () => {
  const schema = await schemaOf("cloud_discovery_data.yaml");
  const accepts = (change: object) => schema.safeParse({ ...exampleFile.discoveryData, ...change }).success;
  assert.ok(accepts({}));
  assert.ok(accepts({ loadBalancerSecurityGroup: "" }));
  for (const wrong of [
    { loadBalancerSecurityGroup: "group" },
    { zones: ["us-gov-west-1a"] },
    { zones: [] },
    { more: 1 },
    { keyName: "" },
  ]) {
    assert.ok(!accepts(wrong), JSON.stringify(wrong));
  }
});

for (const [path, text] of Object.entries(packagedFiles())) {
  test(`${path} is what artifacts are rendered with: run "npm run docs" when it is not`, async () => {
    assert.equal(await readFile(join(here, path), "utf8"), text);
  });
}

test("no script lies beside those that the code knows", async () => {
  const files = (await readdir(join(here, "bashible"), { recursive: true })).filter((path) => path.endsWith(".tpl"));
  const known = Object.keys(packagedFiles()).filter((path) => path.startsWith("bashible/"));
  assert.deepEqual(files.map((path) => `bashible/${path}`).sort(), known.sort());
});

test("every layout has its three steps, and what they share is linked from one place", async () => {
  for (const layout of ["without-nat", "with-nat", "standard"]) {
    for (const step of ["base-infrastructure", "master-node", "static-node"]) {
      const folder = join(here, "layouts", layout, step);
      const files = await readdir(folder);
      for (const name of ["main.tf", "variables.tf", "providers.tf", "versions.tf"])
        assert.ok(files.includes(name), `${layout}/${step}/${name}`);
      assert.equal(files.includes("outputs.tf"), step !== "static-node");
      for (const name of files) {
        if (!(await lstat(join(folder, name))).isSymbolicLink()) continue;
        assert.match(await readlink(join(folder, name)), /^\.\.\/\.\.\/\.\.\/terraform-modules\//);
        await readFile(join(folder, name));
      }
    }
  }
});
