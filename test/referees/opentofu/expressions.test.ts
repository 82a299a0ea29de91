/** What the modules make of their inputs, with every resource and look-up mocked by OpenTofu itself: `tofu test`. */
import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Configuration, configuration, inputs, type Layout, layouts } from "./inputs.ts";
import { readSchema } from "./provider.ts";
import { layoutsFolder, startTofu, type Tofu } from "./tofu.ts";

const region = "eu-central-1";
const zoneNames = (count: number) => Array.from({ length: count }, (_, index) => `${region}${String.fromCharCode(97 + index)}`);

/** One `run` block. Conditions are expressions of OpenTofu; a failure is the name of what must be refused. */
interface Run {
  readonly name: string;
  readonly zones: readonly string[];
  readonly inputs: Configuration;
  readonly conditions?: readonly string[];
  readonly refuses?: string;
}

function block({ name, zones, inputs: given, conditions = [], refuses }: Run): string {
  const variables = Object.entries(given).map(
    ([key, value]) => `    ${key} = jsondecode(${JSON.stringify(JSON.stringify(value)).replaceAll("${", "$${")})`,
  );
  const lookups = ["available", "ordinary"].map(
    (each) => `  override_data {\n    target = data.aws_availability_zones.${each}\n    values = { names = ${JSON.stringify(zones)} }\n  }`,
  );
  return [
    `run ${JSON.stringify(name)} {`,
    "  command = plan",
    "  variables {",
    ...variables,
    "  }",
    ...lookups,
    ...conditions.map(
      (condition) =>
        `  assert {\n    condition = ${condition}\n    error_message = "not so: ${condition.replaceAll('"', "'").replaceAll("${", "")}"\n  }`,
    ),
    ...(refuses === undefined ? [] : [`  expect_failures = [${refuses}]`]),
    "}",
  ].join("\n");
}

async function runTests(tofu: Tofu, folder: string, runs: readonly Run[], nat: boolean) {
  await mkdir(join(folder, "tests"), { recursive: true });
  const text = ['mock_provider "aws" {}', ...runs.map(block)].join("\n\n");
  // Only layouts with NAT look for ordinary zones.
  const own = nat ? text : text.replaceAll(/ {2}override_data \{\n {4}target = data\.aws_availability_zones\.ordinary\n.*\n {2}\}\n?/g, "");
  await writeFile(join(folder, "tests/layout.tftest.hcl"), own);
  return await tofu.run(folder, ["test", "-no-color"]);
}

/** The subnets of a range, worked out apart from the modules: by numbers, not by cidrsubnet. */
function subnets(count: number, layout: Layout): { readonly open: string[]; readonly internal: string[] } {
  const parts = layout.nat ? 2 * count : count;
  const bits = Math.ceil(Math.log2(parts));
  const base = (10 << 24) + (241 << 16) + (32 << 8);
  const at = (index: number) => {
    const address = base + index * 2 ** (12 - bits);
    return `${[24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join(".")}/${20 + bits}`;
  };
  const row = (from: number) => Array.from({ length: count }, (_, index) => at(from + index));
  return { open: row(0), internal: layout.nat ? row(count) : [] };
}

async function copyOfLayouts(t: { after(clean: () => Promise<void>): void }): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), "fairlead-layouts-"));
  t.after(() => rm(copy, { recursive: true, force: true }));
  await cp(layoutsFolder, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

for (const layout of layouts) {
  test(`${layout.name}: subnets of regions with one to eight zones lie side by side in the range, and every zone has its own`, async (t) => {
    const tofu = await startTofu(t, { schema: await readSchema("5.83.1"), resources: {}, dataSources: {} });
    const copy = await copyOfLayouts(t);
    const runs = [1, 2, 3, 4, 5, 6, 7, 8].map((count): Run => {
      const { open, internal } = subnets(count, layout);
      return {
        name: `zones_${count}`,
        // The order in which zones are told does not matter.
        zones: zoneNames(count).reverse(),
        inputs: inputs(configuration(layout, region)),
        conditions: [
          `[for subnet in aws_subnet.kube_public : subnet.cidr_block] == ${JSON.stringify(open)}`,
          `[for subnet in aws_subnet.kube_public : subnet.availability_zone] == ${JSON.stringify(zoneNames(count))}`,
          `alltrue([for index, subnet in aws_subnet.kube_public : subnet.tags.Name == format("demo-public-%d", index) && subnet.tags["kubernetes.io/role/elb"] == "1"])`,
          ...(layout.nat
            ? [
                `[for subnet in aws_subnet.kube_internal : subnet.cidr_block] == ${JSON.stringify(internal)}`,
                `alltrue([for index, subnet in aws_subnet.kube_internal : subnet.tags.Name == format("demo-internal-%d", index) && !subnet.map_public_ip_on_launch])`,
              ]
            : []),
        ],
      };
    });
    const { status, output } = await runTests(tofu, join(copy, `layouts/${layout.folder}/base-infrastructure`), runs, layout.nat);
    assert.equal(status, 0, output);
    assert.match(output, /8 passed, 0 failed/);
    for (const count of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const { open, internal } = subnets(count, layout);
      assert.equal(new Set([...open, ...internal]).size, open.length + internal.length);
    }
  });
}

test("a wrong expectation fails", async (t) => {
  const tofu = await startTofu(t, { schema: await readSchema("5.83.1"), resources: {}, dataSources: {} });
  const copy = await copyOfLayouts(t);
  const run: Run = {
    name: "wrong",
    zones: zoneNames(3),
    inputs: inputs(configuration(layouts[2], region)),
    conditions: ["length(aws_subnet.kube_public) == 4"],
  };
  const { status, output } = await runTests(tofu, join(copy, "layouts/standard/base-infrastructure"), [run], true);
  assert.notEqual(status, 0);
  assert.match(output, /0 passed, 1 failed/);
});

test("each mistake in a configuration is refused at the variable that it is in", async (t) => {
  const tofu = await startTofu(t, { schema: await readSchema("5.83.1"), resources: {}, dataSources: {} });
  const copy = await copyOfLayouts(t);
  const standard = layouts[2];
  const mistakes: readonly (readonly [string, Configuration])[] = [
    ["no_layout", { layout: undefined }],
    ["no_provider", { provider: undefined }],
    ["no_masters", { masterNodeGroup: undefined }],
    ["no_key", { sshPublicKey: undefined }],
    ["malformed_cidr", { vpcNetworkCIDR: "10.241.0.0" }],
    ["cidr_with_host_bits", { nodeNetworkCIDR: "10.241.1.0/20" }],
    ["both_vpcs", { existingVPCID: "vpc-0123456789abcdef0" }],
    ["no_vpc", { vpcNetworkCIDR: undefined }],
    ["unknown_key", { sshPublicKeys: [] }],
    ["zones_twice", { zones: ["eu-central-1a", "eu-central-1a"] }],
    ["no_zones", { zones: [] }],
    [
      "zones_of_masters_twice",
      { masterNodeGroup: { replicas: 1, zones: ["a", "a"], instanceClass: { instanceType: "m5.large", ami: "ami-1" } } },
    ],
    ["no_replicas", { masterNodeGroup: { instanceClass: { instanceType: "m5.large", ami: "ami-1" } } }],
    ["unknown_key_of_masters", { masterNodeGroup: { replicas: 1, zone: "a", instanceClass: { instanceType: "m5.large", ami: "ami-1" } } }],
    ["no_ami", { masterNodeGroup: { replicas: 1, instanceClass: { instanceType: "m5.large" } } }],
    ["disk_type", { masterNodeGroup: { replicas: 1, instanceClass: { instanceType: "m5.large", ami: "ami-1", diskType: "gp4" } } }],
    ["etcd_disk", { masterNodeGroup: { replicas: 1, instanceClass: { instanceType: "m5.large", ami: "ami-1", etcdDisk: { size: 20 } } } }],
    ["group_without_name", { nodeGroups: [{ replicas: 1, instanceClass: { instanceType: "m5.large", ami: "ami-1" } }] }],
    ["keys_of_standard", { standard: { bastionInstance: {} } }],
    ["open_bastion", { withNAT: { bastionInstance: { instanceClass: { instanceType: "t3.small", ami: "ami-1", disk: 1 } } } }],
    ["role_name", { iamNodeRole: "a role" }],
    ["no_action", { additionalRolePolicies: ["everything"] }],
    ["no_range", { publicNetworkAllowList: ["anywhere"] }],
    ["other_kind", { kind: "GCPClusterConfiguration" }],
    ["other_version", { apiVersion: "deckhouse.io/v2" }],
    ["ssh2_key", { sshPublicKey: '---- BEGIN SSH2 PUBLIC KEY ----\nComment: "x"\nAAAA\n---- END SSH2 PUBLIC KEY ----' }],
    ["pem_key", { sshPublicKey: "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----" }],
    ["garbage_key", { sshPublicKey: "garbage" }],
    ["key_of_another_type", { sshPublicKey: "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAA" }],
  ];
  const runs = mistakes.map(
    ([name, change]): Run => ({
      name,
      zones: zoneNames(3),
      inputs: inputs(configuration(standard, region, change)),
      refuses: "var.providerClusterConfiguration",
    }),
  );
  const accepted: Run = {
    name: "older_version",
    zones: zoneNames(3),
    inputs: inputs(configuration(standard, region, { apiVersion: "deckhouse.io/v1alpha1" })),
  };
  const noPrefix: Run = {
    name: "no_prefix",
    zones: zoneNames(3),
    inputs: { ...inputs(configuration(standard, region)), clusterConfiguration: { cloud: { prefix: "" } } },
    refuses: "var.clusterConfiguration",
  };
  const folder = join(copy, "layouts/standard/base-infrastructure");
  const { status, output } = await runTests(tofu, folder, [accepted, noPrefix, ...runs], true);
  assert.equal(status, 0, output);
  assert.match(output, new RegExp(`${runs.length + 2} passed, 0 failed`));
});
