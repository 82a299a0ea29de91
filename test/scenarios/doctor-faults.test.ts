/** The doctor on a sound cluster, and on the same with one thing spoilt. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { accessNeeds } from "../../src/doctor/access.ts";
import type { CheckName, Finding, Level } from "../../src/doctor/finding.ts";
import { actionsOfFeature } from "../../src/doctor/permissions.ts";
import { checkableFeatures, checkedPrograms } from "../../src/doctor/programs.ts";
import { asTable } from "../../src/doctor/report.ts";
import { configMaps, leases, namespaces, nodes, pods, serviceAccounts, services } from "../../src/kube/builtin.ts";
import { resource } from "../../src/kube/resource.ts";
import type { PolicyRule } from "../../src/kube/types.ts";
import { compareSnapshots } from "../../src/sandbox/cloud/controls/compare.ts";
import { type DoctorWorld, doctorWorld, type Look } from "../bed/doctor-world.ts";
import { configurationDefinitions, gatewayApiDefinitions } from "../bed/gateway-definitions.ts";
import { strictPolicy } from "../bed/policies.ts";

const clusterRoles = resource({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  plural: "clusterroles",
  kind: "ClusterRole",
  namespaced: false,
});
const cloudConfig = { "/cloud.conf": "[Global]\nKubernetesClusterID = shop\n" };
const withConfig: Look = { flags: ["--cloud-config=/cloud.conf"], files: cloudConfig };

const features = checkableFeatures;
const ofManager = `--features=${checkedPrograms["controller-manager"].features.join(",")}`;

interface Fault {
  readonly what: string;
  plant(world: DoctorWorld): Promise<void> | void;
  readonly look?: Look;
  readonly found: { readonly check: CheckName; readonly level: Level; readonly says: RegExp; readonly remedy: RegExp };
}

const tags = (world: DoctorWorld, index: number, change: Record<string, string | undefined>) => {
  const { instances } = world.cloud.account.ec2;
  const { id } = world.instances[index]!;
  const changed = Object.entries({ ...instances.get(id)!.tags, ...change }).filter(([, value]) => value !== undefined);
  instances.update(id, { tags: Object.fromEntries(changed) as Record<string, string> });
};

const storageClasses = resource({
  group: "storage.k8s.io",
  version: "v1",
  plural: "storageclasses",
  kind: "StorageClass",
  namespaced: false,
});
const volumeClass = (world: DoctorWorld, parameters: Record<string, string>) =>
  world.kube.create(storageClasses, { metadata: { name: "fast" }, provisioner: "ebs.csi.aws.com", parameters } as never);
const definitions = resource({
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
});
const askDiscovery: Look = { flags: ["--features=discovery"] };
const askVolumes: Look = { flags: ["--features=volumes"] };

const faults: readonly Fault[] = [
  {
    what: "a class of volumes, and no driver",
    plant: async (world) => void (await volumeClass(world, { type: "gp3" })),
    look: askVolumes,
    found: { check: "volumes", level: "problem", says: /there is no CSIDriver ebs\.csi\.aws\.com/, remedy: /ebsCsiDriver\.enabled=true/ },
  },
  {
    what: "a class of volumes with a typo",
    plant: async (world) => void (await volumeClass(world, { typ: "gp3" })),
    look: askVolumes,
    found: {
      check: "volumes",
      level: "problem",
      says: /StorageClass fast: Invalid parameter key typ/,
      remedy: /kubectl get storageclass fast/,
    },
  },
  {
    what: "an API server that labels volumes itself",
    plant: async ({ kube }) =>
      void (await kube.create(pods, {
        metadata: { name: "kube-apiserver-a", namespace: "kube-system", labels: { component: "kube-apiserver" } },
        spec: {
          containers: [
            { name: "c", image: "i", command: ["kube-apiserver", "--enable-admission-plugins=NodeRestriction,PersistentVolumeLabel"] },
          ],
        },
      })),
    found: {
      check: "control plane",
      level: "problem",
      says: /admission plugin PersistentVolumeLabel/,
      remedy: /--disable-admission-plugins=PersistentVolumeLabel/,
    },
  },
  {
    what: "a kube-controller-manager that has a cloud provider of its own",
    plant: async ({ kube }) =>
      void (await kube.create(pods, {
        metadata: { name: "kube-controller-manager-a", namespace: "kube-system", labels: { "k8s-app": "kube-controller-manager" } },
        spec: { containers: [{ name: "c", image: "i", command: ["kube-controller-manager", "--cloud-provider=aws"] }] },
      })),
    found: { check: "control plane", level: "problem", says: /cloud provider of its own/, remedy: /--cloud-provider=external/ },
  },
  {
    what: "a platform that does not know the catalogue of instance types",
    plant: async ({ kube }) => void (await kube.delete(definitions, { name: "instancetypescatalogs.deckhouse.io" })),
    look: askDiscovery,
    found: { check: "discovery", level: "problem", says: /InstanceTypesCatalog is not served/, remedy: /catalogDefinition=true/ },
  },
  {
    what: "a condition of the account that is not met",
    plant: async ({ kube }) => {
      const conditions = '[{"name":"N","message":"DescribeInstanceTopology is not allowed","ok":false}]';
      await kube.create(configMaps, { metadata: { namespace: "kube-system", name: "d8-cloud-provider-conditions" }, data: { conditions } });
    },
    look: askDiscovery,
    found: {
      check: "discovery",
      level: "problem",
      says: /DescribeInstanceTopology is not allowed/,
      remedy: /deploy\/iam\/discovery\.json/,
    },
  },
  {
    what: "no credentials anywhere",
    plant: ({ cloud, instances }) => void cloud.account.ec2.instances.update(instances[0]!.id, { profileArn: undefined }),
    found: { check: "credentials", level: "problem", says: /no role is attached to the instance/, remedy: /aws sts get-caller-identity/ },
  },
  {
    what: "credentials that AWS does not accept",
    plant: () => {},
    look: { environment: { AWS_ACCESS_KEY_ID: "ASIANOBODY0000000000", AWS_SECRET_ACCESS_KEY: "x", AWS_SESSION_TOKEN: "y" } },
    found: { check: "credentials", level: "problem", says: /AWS does not accept the credentials/, remedy: /deploy\/iam\/trust/ },
  },
  {
    what: "no region",
    plant: () => {},
    look: { environment: { AWS_EC2_METADATA_DISABLED: "true" } },
    found: { check: "credentials", level: "problem", says: /cannot tell which AWS region/, remedy: /AWS_REGION/ },
  },
  {
    what: "a clock three minutes ahead",
    plant: () => {},
    look: { aheadMs: 180_000 },
    found: { check: "clock", level: "warning", says: /clock is 1(79|80|81) s ahead of AWS's/, remedy: /chronyc/ },
  },
  {
    what: "a clock an hour behind",
    plant: ({ cloud }) => cloud.controls.change({ maxSkewMs: 300_000 }),
    look: { aheadMs: -3_600_000 },
    found: { check: "clock", level: "problem", says: /s behind AWS's/, remedy: /chronyc/ },
  },
  {
    what: "an instance without the cluster's tag",
    plant: (world) => tags(world, 1, { "kubernetes.io/cluster/shop": undefined }),
    found: {
      check: "instances",
      level: "problem",
      says: /without the cluster's tag: i-/,
      remedy: /create-tags --resources i-\w+ --tags Key=kubernetes\.io\/cluster\/shop,Value=owned/,
    },
  },
  {
    what: "a cluster id in the cloud config that is another than the instances are tagged for",
    plant: () => {},
    look: { flags: ["--cloud-config=/cloud.conf"], files: { "/cloud.conf": "[Global]\nKubernetesClusterID = shp\n" } },
    found: {
      check: "cluster id",
      level: "problem",
      says: /^it is set to shp, but the instances of the Nodes are tagged for shop$/,
      remedy: /^# set KubernetesClusterID=shop .*tag nothing for shp$/,
    },
  },
  {
    what: "an instance with two cluster tags",
    plant: (world) => tags(world, 1, { "kubernetes.io/cluster/other": "owned" }),
    found: {
      check: "instances",
      level: "problem",
      says: /^tagged for shop and for another cluster too: i-\w+ \(other\)/,
      remedy: /delete-tags --resources i-\w+ --tags Key=kubernetes\.io\/cluster\/other /,
    },
  },
  {
    what: "an instance of another cluster",
    plant: (world) => tags(world, 1, { "kubernetes.io/cluster/shop": undefined, "kubernetes.io/cluster/other": "owned" }),
    found: {
      check: "instances",
      level: "problem",
      says: /^tagged for another cluster: i-\w+ \(other\)$/,
      remedy: /^# find out why its kubelet has joined this cluster before you change a tag/,
    },
  },
  {
    what: "a security group of the nodes that two clusters own",
    plant: ({ cloud, network }) => {
      const { securityGroups } = cloud.account.ec2;
      const tags = { ...securityGroups.get(network.nodeGroupId)!.tags, "kubernetes.io/cluster/other": "owned" };
      securityGroups.update(network.nodeGroupId, { tags: { ...tags, "kubernetes.io/cluster/shop": "owned" } });
    },
    found: {
      check: "security groups",
      level: "warning",
      says: /^owned by two clusters: sg-\w+ \((shop, other|other, shop)\)/,
      remedy: /delete-tags --resources sg-/,
    },
  },
  {
    what: "two controller managers that do not compete for one Lease",
    async plant({ kube }) {
      for (const [name, flag] of [
        ["old", "--leader-elect-resource-name=mine"],
        ["new", "--leader-elect=false"],
      ] as const) {
        const labels = { "app.kubernetes.io/part-of": "fairlead", "app.kubernetes.io/component": "controller-manager" };
        const containers = [{ name: "manager", image: "x", args: ["--cloud-provider=aws", flag] }];
        await kube.create(pods, { metadata: { namespace: "kube-system", name, labels }, spec: { containers } });
      }
    },
    found: {
      check: "controllers",
      level: "problem",
      says: /kube-system\/new \(no election\).*kube-system\/old \(Lease kube-system\/mine\)|kube-system\/old \(Lease kube-system\/mine\).*kube-system\/new \(no election\)/,
      remedy: /same --leader-elect-resource-name/,
    },
  },
  {
    what: "two cluster tags on the machine it runs on",
    plant: (world) => tags(world, 0, { "kubernetes.io/cluster/other": "owned" }),
    found: { check: "cluster id", level: "problem", says: /multiple cluster tags/, remedy: /exactly one such tag/ },
  },
  {
    what: "no cluster tag on the machine it runs on",
    plant: (world) => tags(world, 0, { "kubernetes.io/cluster/shop": undefined }),
    found: { check: "cluster id", level: "problem", says: /failed to find ClusterID/, remedy: /create-tags/ },
  },
  {
    what: "no subnet for internet-facing load balancers",
    plant: ({ cloud, network }) => {
      for (const id of network.publicSubnetIds) {
        const { "kubernetes.io/role/elb": _, ...rest } = cloud.account.ec2.subnets.get(id)!.tags;
        cloud.account.ec2.subnets.update(id, { tags: rest });
      }
    },
    found: {
      check: "subnets",
      level: "warning",
      says: /none carries kubernetes\.io\/role\/elb/,
      remedy: /create-tags --resources subnet-.*kubernetes\.io\/role\/elb/,
    },
  },
  {
    what: "a private subnet tagged as public",
    plant: ({ cloud, network }) => {
      const [id] = network.privateSubnetIds;
      const { subnets } = cloud.account.ec2;
      subnets.update(id!, { tags: { ...subnets.get(id!)!.tags, "kubernetes.io/role/elb": "1" } });
    },
    found: { check: "subnets", level: "problem", says: /without a route to an internet gateway: subnet-/, remedy: /delete-tags/ },
  },
  {
    what: "subnets in one zone only",
    plant: ({ cloud, network }) => {
      const { subnets } = cloud.account.ec2;
      for (const id of [...network.publicSubnetIds, ...network.privateSubnetIds]) subnets.update(id, { zone: "us-east-1a" });
    },
    found: { check: "subnets", level: "warning", says: /all are in us-east-1a/, remedy: /second availability zone/ },
  },
  {
    what: "a subnet that is almost full",
    plant: ({ cloud, network }) => void cloud.account.ec2.subnets.update(network.publicSubnetIds[0]!, { cidr: "10.0.0.0/29" }),
    found: { check: "subnets", level: "warning", says: /has \d free addresses/, remedy: /describe-network-interfaces/ },
  },
  {
    what: "two tagged security groups on an instance",
    plant: ({ cloud, network, instances }) => {
      const { ec2 } = cloud.account;
      const group = ec2.securityGroups.get(network.nodeGroupId)!;
      ec2.securityGroups.put("sg-0aaaaaaaaaaaaaaaa", { ...group, id: "sg-0aaaaaaaaaaaaaaaa", name: "second" });
      const own = [...ec2.interfaces.values()].find(({ attachment }) => attachment?.instanceId === instances[1]!.id)!;
      ec2.interfaces.update(own.id, { groupIds: [...own.groupIds, "sg-0aaaaaaaaaaaaaaaa"] });
    },
    found: {
      check: "security groups",
      level: "problem",
      says: /more than one with the cluster's tag/,
      remedy: /delete-tags --resources sg-/,
    },
  },
  {
    what: "no tagged route table",
    plant: ({ cloud, network }) => void cloud.account.ec2.routeTables.update(network.privateTableId, { tags: {} }),
    found: { check: "route tables", level: "problem", says: /none has the cluster's tag/, remedy: /create-tags --resources rtb-/ },
  },
  {
    what: "named route tables that are not there",
    plant: () => {},
    look: {
      flags: ["--cloud-config=/cloud.conf"],
      files: { "/cloud.conf": "[Global]\nKubernetesClusterID = shop\nRouteTableID = rtb-0000000000000000a, rtb-0000000000000000b\n" },
    },
    found: { check: "route tables", level: "problem", says: /^rtb-0+a, rtb-0+b of the cloud config/, remedy: /describe-route-tables/ },
  },
  {
    what: "a metadata hop limit of one for pods off the host network",
    plant: ({ cloud, instances }) => {
      const { instances: table } = cloud.account.ec2;
      for (const { id } of instances) table.update(id, { metadata: { ...table.get(id)!.metadata, hopLimit: 1 } });
    },
    look: { flags: ["--host-network=false"] },
    found: { check: "metadata service", level: "problem", says: /hop limit 1 on i-/, remedy: /--http-put-response-hop-limit 2/ },
  },
  {
    what: "a metadata service that is turned off",
    plant: ({ cloud, instances }) => {
      const { instances: table } = cloud.account.ec2;
      table.update(instances[2]!.id, { metadata: { ...table.get(instances[2]!.id)!.metadata, endpoint: false } });
    },
    found: { check: "metadata service", level: "warning", says: /turned off on i-/, remedy: /--http-endpoint enabled/ },
  },
  {
    what: "a role that lacks a verb",
    async plant({ kube }) {
      const rules: PolicyRule[] = [{ apiGroups: [""], resources: ["nodes"], verbs: ["get", "patch"] }];
      await kube.patch(clusterRoles, { name: "fairlead-controller-manager:cloud-node-lifecycle-controller" }, { merge: { rules } });
    },
    found: {
      check: "access",
      level: "problem",
      says: /fairlead-controller-manager may not delete nodes/,
      remedy: /kubectl apply .*rbac\.yaml/,
    },
  },
  {
    what: "another controller manager that leads",
    async plant({ kube }) {
      const spec = {
        holderIdentity: "ip-10-0-0-1_2f6c",
        leaseDurationSeconds: 15,
        renewTime: new Date().toISOString().replace("Z", "000Z"),
      };
      const reference = kube.as({ userAgent: "aws-cloud-controller-manager/v1.36.1 (linux/amd64)" });
      await reference.create(leases, { metadata: { namespace: "kube-system", name: "cloud-controller-manager" }, spec });
    },
    found: {
      check: "lease",
      level: "warning",
      says: /ip-10-0-0-1_2f6c leads, and it is aws-cloud-controller-manager/,
      remedy: /delete daemonset/,
    },
  },
  {
    what: "a kubelet without --cloud-provider=external",
    async plant({ kube }) {
      await kube.create(nodes, { metadata: { name: "plain" } });
    },
    found: { check: "kubelets", level: "problem", says: /lacks --cloud-provider=external/, remedy: /--cloud-provider=external/ },
  },
  {
    what: "a provider ID of another region",
    async plant({ kube }) {
      await kube.create(nodes, { metadata: { name: "far" }, spec: { providerID: "aws:///eu-west-1a/i-0123456789abcdef0" } });
    },
    found: { check: "provider ids", level: "problem", says: /far: zone eu-west-1a is not in us-east-1/, remedy: /kubectl delete node far/ },
  },
  {
    what: "a provider ID that nobody knows",
    async plant({ kube }) {
      await kube.create(nodes, { metadata: { name: "ghost" }, spec: { providerID: "aws:///us-east-1a/i-0123456789abcdef0" } });
    },
    found: {
      check: "provider ids",
      level: "problem",
      says: /ghost: EC2 in us-east-1 does not know i-0123456789abcdef0/,
      remedy: /--provider-id/,
    },
  },
  {
    what: "one instance claimed by two nodes",
    async plant({ kube, instances }) {
      const { zone, id } = instances[0]!;
      await kube.create(nodes, { metadata: { name: "twin" }, spec: { providerID: `aws:///${zone}/${id}` } });
    },
    found: { check: "provider ids", level: "problem", says: /is claimed by .* and twin/, remedy: /kubectl delete node twin/ },
  },
  {
    what: "a cloud config that cannot be read",
    plant: () => {},
    look: { flags: ["--cloud-config=/cloud.conf"], files: { "/cloud.conf": "[Global\n" } },
    found: { check: "configuration", level: "problem", says: /cloud provider config/, remedy: /fairlead doctor --help/ },
  },
];

for (const look of [{}, withConfig, { flags: ["--host-network=false"] }]) {
  test(`a sound cluster gives the doctor nothing to say (${look.flags?.join(" ") ?? "no flags"})`, async () => {
    const world = await doctorWorld();
    for (const { id } of world.instances) {
      const { instances } = world.cloud.account.ec2;
      instances.update(id, { metadata: { ...instances.get(id)!.metadata, hopLimit: 2 } });
    }
    const findings = await world.findings(look);
    assert.deepEqual(
      findings.filter(({ level }) => level !== "ok"),
      [],
    );
    assert.equal(new Set(findings.map(({ check }) => check)).size, 15);
  });
}

test("a cluster whose nodes nobody has initialised yet is looked at just as well, from a machine beside it", async () => {
  const world = await doctorWorld({ fresh: true });
  const look = { elsewhere: true };
  const findings = await world.findings(look);
  assert.deepEqual(
    findings.filter(({ level }) => level !== "ok"),
    [],
  );
  assert.equal(new Set(findings.map(({ check }) => check)).size, 14);
  tags(world, 1, { "kubernetes.io/cluster/shop": undefined });
  const spoilt = (await world.findings(look)).filter(({ level }) => level !== "ok");
  assert.deepEqual(
    spoilt.map(({ check }) => check),
    ["instances"],
  );
});

test("several route tables are as good as one, whether they are tagged or named: routes are kept in all of them", async () => {
  const world = await doctorWorld();
  const { routeTables } = world.cloud.account.ec2;
  const { privateTableId, publicTableId } = world.network;
  const config = `[Global]\nKubernetesClusterID = shop\nRouteTableID = ${publicTableId}, ${privateTableId}\n`;
  routeTables.update(publicTableId, { tags: routeTables.get(privateTableId)!.tags });
  world.cloud.controls.change({ policy: strictPolicy(world.cloud, world.network, "shop", ...features, "doctor") });
  for (const look of [{}, { flags: ["--cloud-config=/cloud.conf"], files: { "/cloud.conf": config } }]) {
    const findings = await world.findings(look);
    const [tables, ...more] = findings.filter(({ check }) => check === "route tables");
    assert.deepEqual([tables?.level, more], ["ok", []]);
    for (const id of [privateTableId, publicTableId]) assert.ok(tables!.what.includes(id), tables!.what);
    assert.deepEqual(
      findings.filter(({ check, level }) => check === "permissions" && level !== "ok"),
      [],
      "calls are tried on one of them, not on the list",
    );
  }
});

for (const { what, plant, look, found } of faults) {
  test(`the doctor finds ${what}, and says how to fix it`, async () => {
    const world = await doctorWorld();
    await plant(world);
    const findings = (await world.findings(look)).filter(({ level }) => level !== "ok");
    const said = findings.find(({ check, what: text }) => check === found.check && found.says.test(text));
    assert.ok(said, JSON.stringify(findings, undefined, 1));
    assert.equal(said.level, found.level);
    assert.match(said.remedy ?? "", found.remedy);
    // One fault, one place to look: what follows from it is not told as a fault of its own.
    assert.deepEqual([...new Set(findings.map(({ check }) => check))], [found.check], JSON.stringify(findings, undefined, 1));
  });
}

test("without any one action of the policies the doctor names exactly that action", async () => {
  const world = await doctorWorld();
  const actions = [...new Set(features.flatMap(actionsOfFeature))];
  const needed = [...actions, "sts:AssumeRole", "iam:SimulatePrincipalPolicy"];
  for (const action of actions) {
    world.cloud.controls.change({ policy: [{ effect: "allow", actions: needed.filter((each) => each !== action) }] });
    const spoilt = (await world.findings()).filter(({ level }) => level !== "ok");
    const named = new Set(spoilt.map(({ what }) => what.split(" ")[0]));
    assert.deepEqual([...named], [action], JSON.stringify(spoilt));
    for (const { what, remedy } of spoilt) {
      assert.match(what, /is not allowed to role shop-node \(/);
      assert.match(remedy ?? "", /^aws --region us-east-1 iam put-role-policy --role-name shop-node .*file:\/\/deploy\/iam\/[\w-]+\.json$/);
    }
  }
});

test("what a policy denies is told apart from what none allows: another permission would not help", async () => {
  const world = await doctorWorld();
  world.cloud.controls.deny("ec2:DescribeSubnets", "elasticloadbalancing:RegisterTargets");
  const spoilt = (await world.findings({ flags: [ofManager] })).filter(({ level }) => level !== "ok");
  assert.deepEqual(
    spoilt.map(({ what }) => what),
    ["ec2:DescribeSubnets, elasticloadbalancing:RegisterTargets are denied by an identity-based policy to role shop-node (load-balancers)"],
  );
  assert.match(spoilt[0]!.remedy ?? "", /iam simulate-principal-policy .* # another permission does not help: look at the identity-based/);
});

test("a role without any permission fits on one screen", async () => {
  const world = await doctorWorld();
  world.cloud.controls.change({ policy: [{ effect: "allow", actions: ["sts:*", "iam:SimulatePrincipalPolicy"] }] });
  const findings = await world.findings({ flags: [ofManager] });
  assert.ok(asTable(findings).split("\n").length < 40, asTable(findings));
  assert.match(
    findings.find(({ what }) => what.includes("load-balancers"))!.what,
    / and \d+ more are not allowed to role shop-node \(load-balancers\)$/,
  );
});

const desk: Look = {
  flags: ["--kubeconfig=/k/config"],
  files: {
    "/k/config": JSON.stringify({
      "current-context": "prod",
      contexts: [{ name: "prod", context: { cluster: "prod" } }],
      clusters: [{ name: "prod", cluster: { server: "http://cluster" } }],
    }),
  },
  environment: { AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: "of-no-worth", AWS_REGION: "us-east-1" },
};
const permissionsIn = (findings: readonly Finding[]) => findings.filter(({ check }) => check === "permissions");

test("at somebody's desk the doctor says that it looked at their permissions and not at the controllers'", async () => {
  const world = await doctorWorld();
  const [told, ...more] = permissionsIn(await world.findings(desk));
  assert.deepEqual([told?.level, more], ["warning", []]);
  assert.equal(told!.what, "checked those of user owner: that is you, not the controllers");
  assert.match(told!.remedy ?? "", /--role-arn=ROLE .*kubectl -n kube-system exec POD -- fairlead doctor/);
});

test("--role-arn, or the role of the service account, is asked for in place of your own", async () => {
  const world = await doctorWorld();
  const arn = `arn:aws:iam::${world.cloud.account.id}:role/clusters/fairlead`;
  const role = { ...desk, flags: [...desk.flags!, `--role-arn=${arn}`] };
  const [allowed] = permissionsIn(await world.findings(role));
  assert.match(allowed!.what, /^all \d+ actions are allowed to role fairlead$/);
  const principals = ["arn:aws:sts::*:assumed-role/fairlead/*"];
  world.cloud.controls.change({
    policy: [...world.cloud.controls.settings().policy, { effect: "deny", actions: ["ec2:CreateTags"], principals }],
  });
  const [denied] = permissionsIn(await world.findings(role));
  assert.match(denied!.what, /^ec2:CreateTags is denied by an identity-based policy to role fairlead \(load-balancers\)$/);
  assert.equal(permissionsIn(await world.findings(desk))[0]!.level, "warning", "nothing is said of the role where it is not asked for");
  const account = { namespace: "kube-system", name: "fairlead-controller-manager" };
  await world.kube.patch(serviceAccounts, account, { merge: { metadata: { annotations: { "eks.amazonaws.com/role-arn": arn } } } });
  const manager = (look: Look): Look => ({ ...look, flags: [...look.flags!, ofManager] });
  assert.deepEqual(permissionsIn(await world.findings(manager(desk))), permissionsIn(await world.findings(manager(role))));
});

test("programs that run as different roles are asked about apart, each with its own features", async () => {
  const world = await doctorWorld();
  const arn = (name: string) => `arn:aws:iam::${world.cloud.account.id}:role/${name}`;
  for (const name of ["controller-manager", "load-balancer-controller"]) {
    const account = { namespace: "kube-system", name: `fairlead-${name}` };
    const annotations = { "eks.amazonaws.com/role-arn": arn(name) };
    await world.kube.delete(serviceAccounts, account).catch(() => {});
    await world.kube.create(serviceAccounts, { metadata: { ...account, annotations } });
  }
  const principals = ["arn:aws:sts::*:assumed-role/load-balancer-controller/*"];
  world.cloud.controls.change({
    policy: [...world.cloud.controls.settings().policy, { effect: "deny", actions: ["elasticloadbalancing:RegisterTargets"], principals }],
  });
  const flags = [...desk.flags!, "--features=nodes,load-balancers,target-group-bindings"];
  const told = permissionsIn(await world.findings({ ...desk, flags })).map(({ level, what }) => `${level}: ${what}`);
  assert.match(told[0]!, /^ok: all \d+ actions are allowed to role controller-manager$/);
  assert.deepEqual(told.slice(1), [
    "problem: elasticloadbalancing:RegisterTargets is denied by an identity-based policy to role load-balancer-controller (target-group-bindings)",
  ]);
});

test("what leads and who competes for it is told only where the controller manager is checked", async () => {
  const world = await doctorWorld();
  const checks = (await world.findings({ flags: ["--features=interruptions"] })).map(({ check }) => check);
  assert.ok(!checks.includes("lease") && checks.includes("permissions"), checks.join(", "));
});

test("Services that wait for a load balancer controller, and a definition that is missing, are told", async () => {
  const world = await doctorWorld();
  const flags = ["--features=class-services"];
  const told = async () =>
    (await world.findings({ flags })).flatMap(({ check, level, what }) =>
      check === "load balancer controller" ? [`${level} ${what}`] : [],
    );
  assert.deepEqual(await told(), []);
  await world.kube.create(namespaces, { metadata: { name: "shop" } });
  const spec = { type: "LoadBalancer", loadBalancerClass: "service.k8s.aws/nlb", ports: [{ port: 80 }] };
  await world.kube.create(services, { metadata: { namespace: "shop", name: "web" }, spec });
  const [definition = "", leader = "", ...more] = await told();
  assert.match(definition, /^problem the API server does not know targetgroupbindings/);
  assert.match(
    leader,
    /^problem nobody holds the Lease aws-load-balancer-controller-leader, and these Services wait for an address: shop\/web/,
  );
  assert.deepEqual(more, []);

  const labels = { "app.kubernetes.io/name": "aws-load-balancer-controller" };
  const containers = [{ name: "controller", image: "c:1", args: ["--cluster-name=shop", "--load-balancer-class=example.com/own"] }];
  await world.kube.create(pods, { metadata: { namespace: "kube-system", name: "balancers", labels }, spec: { containers } });
  assert.deepEqual(await told(), [], "the class of the one that runs is another");
  await world.kube.create(services, {
    metadata: { namespace: "shop", name: "own" },
    spec: { ...spec, loadBalancerClass: "example.com/own" },
  });
  assert.match((await told()).join("\n"), /these Services wait for an address: shop\/own/);
});

test("Gateways that nobody serves, their classes, definitions and grants are told", async () => {
  const world = await doctorWorld();
  const told = async () =>
    (await world.findings({ flags: ["--features=ingresses"] })).flatMap(({ check, level, what }) =>
      check === "gateways" ? [`${level} ${what}`] : [],
    );
  assert.deepEqual(await told(), [], "nothing of it is installed");
  const annotations = { "gateway.networking.k8s.io/bundle-version": "v1.6.1", "gateway.networking.k8s.io/channel": "standard" };
  for (const definition of [...gatewayApiDefinitions, ...configurationDefinitions] as readonly { readonly metadata: object }[])
    await world.kube.create(definitions, { ...definition, metadata: { ...definition.metadata, annotations } } as never);
  assert.match((await told()).join("\n"), /^warning no GatewayClass has the controller/);

  const of = (plural: string, kind: string, namespaced = true) =>
    resource({ group: "gateway.networking.k8s.io", version: "v1", plural, kind, namespaced });
  const classes = of("gatewayclasses", "GatewayClass", false);
  const gateways = of("gateways", "Gateway");
  const spec = { controllerName: "gateway.k8s.aws/alb" };
  await world.kube.create(classes, { metadata: { name: "alb" }, spec } as never);
  assert.match((await told()).join("\n"), /^problem nobody has accepted GatewayClass alb/);
  const accepted = { type: "Accepted", status: "True", reason: "Accepted", message: "" };
  const status = { conditions: [accepted] };
  await world.kube.patch(classes, { name: "alb", subresource: "status" }, { merge: { status } });
  assert.deepEqual(await told(), ["ok classes alb are accepted; Gateway API v1.6.1 standard"]);

  await world.kube.create(namespaces, { metadata: { name: "shop" } });
  const listeners = [{ name: "http", port: 80, protocol: "HTTP" }];
  for (const [name, gatewayClassName] of [
    ["edge", "alb"],
    ["lost", "typo"],
  ])
    await world.kube.create(gateways, { metadata: { namespace: "shop", name }, spec: { gatewayClassName, listeners } } as never);
  const routes = of("httproutes", "HTTPRoute");
  await world.kube.create(routes, { metadata: { namespace: "shop", name: "far" }, spec: { parentRefs: [{ name: "edge" }] } } as never);
  const refused = { type: "ResolvedRefs", status: "False", reason: "RefNotPermitted", message: "" };
  const parents = [{ controllerName: "gateway.k8s.aws/alb", parentRef: { name: "edge" }, conditions: [refused] }];
  await world.kube.patch(routes, { namespace: "shop", name: "far", subresource: "status" }, { merge: { status: { parents } } });
  assert.deepEqual((await told()).slice(1), [
    "problem nobody serves Gateway shop/edge: it has no status",
    "problem Gateway shop/lost is of class typo, which does not exist",
    "warning lead to another namespace that does not grant it: HTTPRoute shop/far",
  ]);
});

test("a role that cannot be asked for is said to be so, and not called sound", async () => {
  const world = await doctorWorld();
  world.cloud.controls.deny("iam:SimulatePrincipalPolicy");
  const flags = [...desk.flags!, `--role-arn=arn:aws:iam::${world.cloud.account.id}:role/fairlead`];
  const [told] = permissionsIn(await world.findings({ ...desk, flags }));
  assert.equal(told?.level, "warning");
  assert.match(told!.what, /^those of role fairlead cannot be checked: .*iam:SimulatePrincipalPolicy/);
});

test("under the strict policies the doctor finds nothing missing: it tries what is the cluster's", async () => {
  const world = await doctorWorld();
  world.cloud.controls.change({ policy: strictPolicy(world.cloud, world.network, "shop", ...features, "doctor") });
  const findings = await world.findings();
  assert.deepEqual(
    findings.filter(({ level }) => level !== "ok"),
    [],
  );
  assert.match(findings.find(({ check }) => check === "permissions")?.what ?? "", /^all \d+ actions are allowed to role shop-node$/);
});

test("without the policy simulator what cannot be tried is left open, and that is said", async () => {
  const world = await doctorWorld();
  world.cloud.controls.deny("iam:SimulatePrincipalPolicy");
  const findings = await world.findings();
  assert.deepEqual(
    findings.filter(({ level }) => level !== "ok"),
    [],
  );
  assert.match(
    findings.find(({ check }) => check === "permissions")?.what ?? "",
    /the others can be checked where iam:SimulatePrincipalPolicy is allowed \(deploy\/iam\/doctor\.json\)/,
  );
});

test("without the right to act as another role the doctor names that action", async () => {
  const world = await doctorWorld();
  const files = { "/cloud.conf": `[Global]\nRoleARN = arn:aws:iam::${world.cloud.account.id}:role/cluster\n` };
  world.cloud.controls.deny("sts:AssumeRole");
  const spoilt = (await world.findings({ flags: ["--cloud-config=/cloud.conf"], files })).filter(({ level }) => level !== "ok");
  assert.deepEqual([...new Set(spoilt.flatMap(({ what }) => what.match(/allow (\w+:\w+)/)?.[1] ?? []))], ["sts:AssumeRole"]);
});

test("every policy that we ship is one whose actions a test takes away", () => {
  const shipped = globSync("*.json", { cwd: new URL("../../deploy/iam/", import.meta.url).pathname }).map((file) => file.slice(0, -5));
  // Programs that are not Fairlead's run under these in their referees; the doctor does not ask for them.
  const ofOthers = ["layouts-base", "layouts-nodes", "machine-controller"];
  assert.deepEqual(shipped.sort(), [...features, ...ofOthers, "assume-role", "dashboard", "doctor", "interruptions-setup"].sort());
});

test("the doctor changes nothing, neither in AWS nor in the cluster", async () => {
  const world = await doctorWorld();
  const [before, version] = [world.cloud.controls.snapshot(), world.cluster.resourceVersion];
  await world.findings();
  assert.deepEqual(compareSnapshots(before, world.cloud.controls.snapshot()), []);
  assert.equal(world.cluster.resourceVersion, version);
  assert.deepEqual(world.cloud.controls.journal.entries(), []);
});

test("what the doctor asks about access is what the chart's roles allow", async () => {
  const text = await readFile(new URL("../../deploy/manifests/rbac.yaml", import.meta.url), "utf8");
  const roles = parseAllDocuments(text).map(
    (document) => document.toJS() as { readonly kind: string; readonly rules?: readonly PolicyRule[] },
  );
  const allowed = roles.flatMap(({ kind, rules = [] }) =>
    rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
      verbs.flatMap((verb) => resources.map((name) => `${kind} ${verb} ${apiGroups[0]}/${name}`)),
    ),
  );
  const asked = accessNeeds.map(
    ({ verb, group, resource: name, subresource, namespace }) =>
      `${namespace === undefined ? "ClusterRole" : "Role"} ${verb} ${group}/${[name, subresource].filter(Boolean).join("/")}`,
  );
  assert.deepEqual([...new Set(asked)].sort(), [...new Set(allowed)].sort());
});
