/** The keeper of artifacts in a cluster of a platform. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { instanceClassDefinition } from "../../src/discovery/artifacts/instance-class.ts";
import { exampleFile } from "../../src/discovery/artifacts/testing.ts";
import { ArtifactsWorld, configurationPath, kept } from "../bed/artifacts-world.ts";

const defaultClass = "storageclass.kubernetes.io/is-default-class";
const minute = 60_000;
const storage = "/apis/storage.k8s.io/v1/storageclasses";

const registration = (world: ArtifactsWorld) => {
  const { data } = world.find("secrets", "d8-node-manager-cloud-provider");
  return JSON.parse(Buffer.from(data.aws, "base64").toString()) as { tags: object; instances: { ami: string } };
};

test("what is missing is made from what the cluster holds, and AWS is asked nothing", async () => {
  const { world, keeper } = await kept();
  assert.deepEqual(registration(world).tags, { env: "prod" });
  for (const name of [
    "d8-node-manager-cloud-provider-aws",
    "d8-cloud-provider-aws-mcm",
    "d8-cloud-provider-aws-bashible-steps",
    "d8-cloud-provider-aws-bashible-bootstrap",
    "cloud-controller-manager",
    "d8-cni-configuration",
  ]) {
    assert.ok(world.find("secrets", name), name);
  }
  assert.ok(world.find("customresourcedefinitions.apiextensions.k8s.io", "awsinstanceclasses.deckhouse.io"));
  assert.deepEqual(
    world.cluster.objects("storageclasses.storage.k8s.io").map(({ metadata }) => metadata.name),
    ["gp2", "gp3", "sc1", "st1"],
  );
  assert.equal(world.find("storageclasses.storage.k8s.io", "gp2").metadata.annotations[defaultClass], "true");
  assert.match(await keeper.metrics(), /fairlead_artifacts_configuration_usable 1/);
  assert.equal(world.aws, 0);
  keeper.stop();
  await keeper.ended;
});

test("what is as it should be is not written, however often it is looked at and whoever looks", async () => {
  const { world, keeper } = await kept();
  keeper.stop();
  await keeper.ended;
  world.writes.length = 0;
  const next = world.start();
  await world.pass(20 * minute);
  assert.deepEqual(world.writes, []);
  next.stop();
  await next.ended;
});

test("a changed configuration is taken up at once, and what others have added stays", async () => {
  const { world } = await kept();
  const path = "/api/v1/namespaces/kube-system/secrets/d8-node-manager-cloud-provider";
  await world.say("PATCH", path, { metadata: { labels: { team: "a" } } });
  await world.configure({ ...exampleFile.clusterConfiguration, tags: { env: "dev" } });
  await world.pass(1000);
  assert.deepEqual(registration(world).tags, { env: "dev" });
  assert.equal(world.find("secrets", "d8-node-manager-cloud-provider").metadata.labels.team, "a");
});

test("what somebody changes of an object is set right, surplus keys with it", async () => {
  const { world } = await kept();
  const path = "/api/v1/namespaces/kube-system/secrets/d8-node-manager-cloud-provider";
  await world.say("PATCH", path, { data: { region: "eA==", capiClusterKind: "eA==" } });
  await world.pass(6 * minute);
  const { data } = world.find("secrets", "d8-node-manager-cloud-provider");
  assert.equal(Buffer.from(data.region, "base64").toString(), "eu-central-1");
  assert.ok(!("capiClusterKind" in data));
});

test("a configuration that cannot be used changes nothing, and everything that is wrong is told where it is", async () => {
  const { world, keeper } = await kept();
  world.writes.length = 0;
  const { keyName: _, ...discoveryData } = exampleFile.discoveryData;
  await world.configure(exampleFile.clusterConfiguration, { ...discoveryData, loadBalancerSecurityGroup: "lb" });
  await world.pass(minute);
  assert.deepEqual(world.writes, []);
  const [message] = world.events("ArtifactsInvalid");
  assert.match(message!, /validate cloud-provider-discovery-data\.json: keyName: /);
  assert.match(message!, /loadBalancerSecurityGroup: /);
  assert.match(await keeper.metrics(), /fairlead_artifacts_configuration_usable 0/);
  await world.configure({ ...exampleFile.clusterConfiguration, tags: {} });
  await world.pass(1000);
  assert.deepEqual(registration(world).tags, {});
});

test("broken YAML with keys in it is told by its line, and never by its text", async () => {
  const { world, keeper } = await kept();
  const broken = 'provider: {providerSecretAccessKey: "wJalrXUtnFEMI"\nregion: [a';
  const data = { "cloud-provider-cluster-configuration.yaml": Buffer.from(broken).toString("base64") };
  await world.say("PATCH", configurationPath, { data });
  await world.pass(minute);
  const [message] = world.events("ArtifactsInvalid");
  assert.match(message!, /validate cloud-provider-cluster-configuration\.yaml: line \d+: [A-Z_]+/);
  assert.doesNotMatch(message! + keeper.lines.join(), /wJalrXUtnFEMI/);
});

test("an alias that leads nowhere is told like any other broken YAML, and not by its name", async () => {
  const { world, keeper } = await kept();
  const data = { "cloud-provider-cluster-configuration.yaml": Buffer.from("provider: *wJalrXUtnFEMI\n").toString("base64") };
  await world.say("PATCH", configurationPath, { data });
  await world.pass(minute);
  const [message = ""] = world.events("ArtifactsInvalid");
  assert.match(message, /validate cloud-provider-cluster-configuration\.yaml: it has an alias without an anchor/);
  assert.doesNotMatch(message + keeper.lines.join(), /wJalrXUtnFEMI/);
});

test("without the Secret nothing is made, and it is made when the Secret comes", async () => {
  const world = new ArtifactsWorld();
  world.start();
  await world.pass(minute);
  assert.deepEqual(world.writes, []);
  assert.match(world.events("ArtifactsInvalid").join(), /can't find Secret d8-provider-cluster-configuration in Namespace kube-system/);
  await world.install();
  await world.pass(1000);
  assert.ok(world.find("secrets", "d8-node-manager-cloud-provider"));
});

test("somebody else's object is left alone and told of; one that is as it should be is nobody's business", async () => {
  const world = new ArtifactsWorld();
  await world.install();
  const labels = { heritage: "deckhouse", module: "cloud-provider-yandex" };
  const data = { type: "eWFuZGV4" };
  await world.say("POST", "/api/v1/namespaces/kube-system/secrets", { metadata: { name: "d8-node-manager-cloud-provider", labels }, data });
  const spec = { attachRequired: true, podInfoOnMount: false };
  await world.say("POST", "/apis/storage.k8s.io/v1/csidrivers", { metadata: { name: "ebs.csi.aws.com" }, spec });
  await world.say("POST", storage, { metadata: { name: "gp3" }, provisioner: "kubernetes.io/aws-ebs" });
  const keeper = world.start();
  await world.pass(minute);
  assert.deepEqual(world.find("secrets", "d8-node-manager-cloud-provider").data, data);
  assert.equal(world.find("storageclasses.storage.k8s.io", "gp3").provisioner, "kubernetes.io/aws-ebs");
  assert.equal(world.events("ArtifactForeign").length, 2);
  assert.match(await keeper.metrics(), /fairlead_artifacts_objects\{state="foreign"\} 2/);
  assert.ok(world.find("secrets", "d8-node-manager-cloud-provider-aws"), "the others are made");
});

test("an existing network is kept as it is, and one without a name is an error", async () => {
  for (const [data, made] of [
    [{ cni: "Zmxhbm5lbA==", flannel: "e30=" }, true],
    [{ other: "eA==" }, false],
  ] as const) {
    const world = new ArtifactsWorld();
    await world.install();
    await world.say("POST", "/api/v1/namespaces/kube-system/secrets", { metadata: { name: "d8-cni-configuration" }, data });
    world.start();
    await world.pass(minute);
    assert.deepEqual(world.find("secrets", "d8-cni-configuration").data, data);
    assert.equal(world.find("secrets", "d8-cloud-provider-aws-mcm") !== undefined, made);
    if (!made) assert.match(world.events("ArtifactsInvalid").join(), /d8-cni-configuration has no key cni/);
  }
});

test("scripts of the platform's own module stay as they are, ours are kept, and nobody's are made when they are switched off", async () => {
  const world = new ArtifactsWorld();
  await world.install();
  const labels = { heritage: "deckhouse", module: "cloud-provider-aws", "cloud-provider.deckhouse.io/bashible": "steps" };
  const [steps, bootstrap] = ["steps", "bootstrap"].map((part) => `d8-cloud-provider-aws-bashible-${part}`) as [string, string];
  const data = { "000_add_extra_modules.sh.tpl": "eA==" };
  await world.say("POST", "/api/v1/namespaces/kube-system/secrets", { metadata: { name: steps, labels }, data });
  world.start();
  await world.pass(minute);
  assert.deepEqual(world.find("secrets", steps).data, data, "every node would run others");
  const made = world.find("secrets", bootstrap).data;
  await world.say("PATCH", `/api/v1/namespaces/kube-system/secrets/${bootstrap}`, { data: { "bootstrap-networks.sh.tpl": "eA==" } });
  await world.pass(6 * minute);
  assert.deepEqual(world.find("secrets", bootstrap).data, made);
  await world.say("DELETE", `/api/v1/namespaces/kube-system/secrets/${bootstrap}`, {});
  await world.settle({ bashible: { enabled: false } });
  await world.pass(6 * minute);
  assert.equal(world.find("secrets", bootstrap), undefined);
});

test("the platform's own definition of instance classes stays, with what it knows more; one that knows less is set right", async () => {
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  for (const [less, more] of [
    [false, true],
    [true, false],
    [true, true],
  ] as const) {
    const world = new ArtifactsWorld();
    await world.install();
    const theirs = structuredClone(instanceClassDefinition) as unknown as {
      spec: {
        versions: { name: string; storage: boolean; schema: { openAPIV3Schema: { properties: { spec: { properties: object } } } } }[];
      };
    };
    for (const version of theirs.spec.versions) {
      const { spec } = version.schema.openAPIV3Schema.properties;
      const { iops: _, ...rest } = spec.properties as Record<string, object>;
      spec.properties = { ...(less ? rest : spec.properties), ...(more && { kmsKey: { type: "string", description: "Of theirs." } }) };
    }
    if (more && !less) theirs.spec.versions.push({ ...theirs.spec.versions[0]!, name: "v2" });
    await world.say("POST", definitions, theirs);
    world.start();
    await world.pass(minute);
    const written = world.writes.filter((write) => write.includes("customresourcedefinitions"));
    assert.deepEqual(written, more ? [] : [`PATCH ${definitions}/awsinstanceclasses.deckhouse.io`]);
    const told = world.events("ArtifactForeign").join();
    assert.equal(
      /what users have written there would go/.test(told),
      less && more,
      "a definition of a newer platform that has dropped a field",
    );
  }
});

test("a definition that an earlier release wrote gets what the new one allows; a change that somebody made to ours stays", async () => {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/awsinstanceclasses.deckhouse.io";
  const name = "awsinstanceclasses.deckhouse.io";
  const others = structuredClone(instanceClassDefinition.spec.versions);
  const allows = (world: ArtifactsWorld) =>
    world
      .find("customresourcedefinitions.apiextensions.k8s.io", name)
      .spec.versions.map(
        (each: (typeof others)[number]) => each.schema.openAPIV3Schema.properties.spec.properties.capacity.properties.cpu.pattern,
      );
  for (const each of others) each.schema.openAPIV3Schema.properties.spec.properties.capacity.properties.cpu.pattern = "^[0-9]+$";
  const { world, keeper } = await kept();
  const { annotations } = world.find("customresourcedefinitions.apiextensions.k8s.io", name).metadata;
  await world.say("PATCH", path, { spec: { versions: others } });
  await world.pass(6 * minute);
  assert.deepEqual(allows(world), ["^[0-9]+$", "^[0-9]+$"], "it is as much theirs as ours");
  keeper.stop();
  await keeper.ended;
  const earlier = Object.fromEntries(Object.keys(annotations).map((key) => [key, "0123456789abcdef"]));
  await world.say("PATCH", path, { metadata: { annotations: earlier } });
  world.start();
  await world.pass(minute);
  assert.deepEqual(allows(world), ["^[0-9]+m?$", "^[0-9]+m?$"]);
  assert.deepEqual(world.find("customresourcedefinitions.apiextensions.k8s.io", name).metadata.annotations, annotations);
});

test("settings that cannot be used are told, and nothing is changed", async () => {
  const { world } = await kept();
  world.writes.length = 0;
  await world.settle({ storageClass: { provision: [{ name: "a", type: "gp2", iops: "3000" }], exclude: ["("] } });
  await world.pass(minute);
  assert.deepEqual(world.writes, []);
  const [event] = world.eventsOf("ArtifactsInvalid");
  assert.match(event!.message!, /storageClass\.exclude: "\("/);
  assert.deepEqual([event!.involvedObject.kind, event!.involvedObject.name], ["ConfigMap", "fairlead-artifacts"]);
});

test("a cluster without its UUID is told by the ConfigMap that should have it", async () => {
  const world = new ArtifactsWorld();
  await world.install();
  await world.say("PATCH", "/api/v1/namespaces/kube-system/configmaps/d8-cluster-uuid", { data: { "cluster-uuid": "" } });
  world.start();
  await world.pass(minute);
  assert.deepEqual(world.writes, []);
  assert.match(world.events("ArtifactsInvalid").join(), /ConfigMap d8-cluster-uuid in Namespace kube-system has no key cluster-uuid/);
});

test("a dry run changes nothing and says what it would do", async () => {
  const world = new ArtifactsWorld();
  await world.install();
  const keeper = world.start("--dry-run");
  await world.pass(minute);
  assert.deepEqual(world.writes, []);
  assert.match(keeper.lines.join(""), /dry run: would create secrets\/kube-system\/d8-node-manager-cloud-provider/);
});

test("of two keepers one works, and the other takes over when it goes", async () => {
  const { world, keeper } = await kept();
  const other = world.start();
  await world.pass(minute);
  assert.ok(!other.lines.join("").includes("brought an object"));
  keeper.stop();
  await keeper.ended;
  await world.say("DELETE", "/api/v1/namespaces/kube-system/secrets/d8-cloud-provider-aws-mcm", {});
  await world.pass(6 * minute);
  assert.ok(world.find("secrets", "d8-cloud-provider-aws-mcm"));
});

test("a refused object stops no other, and is tried again", async () => {
  const world = new ArtifactsWorld();
  await world.install();
  await world.settle({ snapshots: true });
  const keeper = world.start();
  await world.pass(minute);
  assert.ok(world.find("storageclasses.storage.k8s.io", "gp3"));
  assert.match(await keeper.metrics(), /fairlead_artifacts_objects\{state="failed"\} 1/);
  assert.match(keeper.lines.join(""), /volumesnapshotclasses\.snapshot\.storage\.k8s\.io\/aws/);
});

for (const effect of [{ kind: "refuse", status: 503 }, { kind: "hang" }, { kind: "lose-answer" }] as const) {
  test(`an hour of an API server that answers nothing (${effect.kind}) loses nothing`, async () => {
    const { world, keeper } = await kept("--leader-elect=false");
    await world.installNodeGroups();
    await world.instanceClass("large", { instanceType: "m5.large" });
    let isAway = true;
    const lift = world.cluster.faults.add({ match: () => isAway, effect });
    await world.pass(30 * minute);
    isAway = false;
    await world.configure({ ...exampleFile.clusterConfiguration, tags: { env: "dev" } });
    await world.group("a", "large");
    await world.say("DELETE", "/api/v1/namespaces/kube-system/secrets/d8-cloud-provider-aws-mcm", {});
    isAway = true;
    await world.pass(30 * minute);
    lift();
    await world.pass(6 * minute);
    assert.deepEqual(registration(world).tags, { env: "dev" });
    assert.ok(world.find("secrets", "d8-cloud-provider-aws-mcm"));
    assert.deepEqual(world.find("awsinstanceclasses.deckhouse.io", "large").status, { nodeGroupConsumers: ["a"] });
    keeper.stop();
    await keeper.ended;
  });
}

test("instance classes: who uses each is written, when groups come, change and go, and not when nothing does", async () => {
  const { world } = await kept();
  await world.instanceClass("large", { instanceType: "m5.large" });
  await world.instanceClass("small", { instanceType: "t3.small" });
  await world.pass(minute);
  const users = (name: string) => world.find("awsinstanceclasses.deckhouse.io", name).status?.nodeGroupConsumers;
  assert.equal(users("large"), undefined, "nobody can say who uses it");
  await world.installNodeGroups();
  await world.group("b", "large");
  await world.group("a", "large");
  await world.group("c", "nowhere");
  await world.group("d", "large", undefined, "Static");
  await world.pass(minute);
  assert.deepEqual([users("large"), users("small")], [["a", "b"], []]);
  world.writes.length = 0;
  const classReference = { kind: "AWSInstanceClass", name: "small" };
  await world.say("PATCH", "/apis/deckhouse.io/v1/nodegroups/b", { spec: { cloudInstances: { classReference } } });
  await world.say("DELETE", "/apis/deckhouse.io/v1/nodegroups/a", {});
  await world.pass(5 * minute);
  assert.deepEqual([users("large"), users("small")], [[], ["b"]]);
  assert.equal(world.writes.length, 2);
});

test("a class from which no machine can be made is told of, with what discovery knows of its zones", async () => {
  const { world, keeper } = await kept();
  await world.installNodeGroups();
  const document = { kind: "AWSCloudProviderDiscoveryData", instanceTypeZones: { "m5.large": ["eu-central-1b"] } };
  await world.say("POST", "/api/v1/namespaces/kube-system/secrets", {
    metadata: { name: "d8-cloud-provider-discovery-data" },
    data: { "discovery-data.json": Buffer.from(JSON.stringify(document)).toString("base64") },
  });
  await world.instanceClass("bad", { instanceType: "m5.large", diskType: "io2" });
  await world.instanceClass("good", { instanceType: "c5.large" });
  await world.group("worker", "bad");
  await world.pass(minute);
  const messages = world.events("InstanceClassInvalid");
  assert.equal(messages.length, 1);
  assert.match(messages[0]!, /spec\.diskType: io2 .*; spec\.instanceType: m5\.large is not offered in zone eu-central-1a/);
  assert.match(await keeper.metrics(), /fairlead_artifacts_invalid_instance_classes 1/);
  const said = () => world.eventsOf("InstanceClassInvalid").map(({ count }) => count);
  await world.pass(20 * minute);
  assert.deepEqual(said(), [1], "the same is not told again and again");
  await world.pass(15 * minute);
  assert.deepEqual(said(), [2], "but before the API server forgets it");
  await world.say("PATCH", "/apis/deckhouse.io/v1/awsinstanceclasses/bad", { spec: { diskType: "gp3" } });
  await world.pass(minute);
  assert.deepEqual(said(), [2, 1], "another problem is told at once");
});

test("nodes with the taint of a spot interruption are marked, once, and drained ones are not drained again", async () => {
  const { world } = await kept();
  const taints = [{ key: "aws-node-termination-handler/spot-itn", value: "1", effect: "NoSchedule" }];
  const label = "node.deckhouse.io/termination-in-progress";
  const draining = "update.node.deckhouse.io/draining";
  const drained = "update.node.deckhouse.io/drained";
  world.writes.length = 0;
  await world.say("POST", "/api/v1/nodes", { metadata: { name: "spot" }, spec: { taints } });
  await world.say("POST", "/api/v1/nodes", { metadata: { name: "clean" } });
  const marked = { labels: { [label]: "true" }, annotations: { [draining]: "aws-node-termination-handler" } };
  await world.say("POST", "/api/v1/nodes", { metadata: { name: "marked", ...marked }, spec: { taints } });
  const done = { labels: { [label]: "true" }, annotations: { [drained]: "aws-node-termination-handler" } };
  await world.say("POST", "/api/v1/nodes", { metadata: { name: "drained", ...done }, spec: { taints } });
  await world.pass(minute);
  const { metadata } = world.find("nodes", "spot");
  assert.deepEqual([metadata.labels[label], metadata.annotations[draining]], ["true", "aws-node-termination-handler"]);
  assert.deepEqual(world.writes, ["PATCH /api/v1/nodes/spot"]);
});

test("a controller manager whose machine gets another address is deleted; its first one is remembered", async () => {
  const { world } = await kept();
  const pods = "/api/v1/namespaces/d8-cloud-provider-aws/pods";
  const pod = (name: string, app: string) => ({
    metadata: { name, labels: { app } },
    spec: { containers: [{ name: "it", image: "it" }] },
  });
  await world.say("POST", pods, pod("ccm", "cloud-controller-manager"));
  await world.say("POST", pods, pod("other", "csi-controller"));
  world.writes.length = 0;
  await world.pass(1000);
  assert.deepEqual(world.writes, [], "it has no address yet");
  for (const name of ["ccm", "other"]) await world.say("PATCH", `${pods}/${name}/status`, { status: { hostIP: "10.0.0.1" } });
  await world.pass(1000);
  assert.equal(world.find("pods", "ccm").metadata.annotations["node.deckhouse.io/initial-host-ip"], "10.0.0.1");
  assert.deepEqual(world.writes, [`PATCH ${pods}/ccm`]);
  await world.say("PATCH", `${pods}/ccm/status`, { status: { hostIP: "10.0.0.2" } });
  await world.pass(1000);
  assert.deepEqual(world.writes, [`PATCH ${pods}/ccm`, `DELETE ${pods}/ccm`]);
});

test("masters: without the flag nobody waits for them; with it they get two minutes, and then are told of until they are initialised", async () => {
  const world = new ArtifactsWorld();
  await world.install();
  const quiet = world.start("--leader-elect=false");
  const taints = [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }];
  const labels = { "node-role.kubernetes.io/control-plane": "" };
  await world.say("POST", "/api/v1/nodes", { metadata: { name: "master-0", labels }, spec: { taints } });
  await world.say("POST", "/api/v1/nodes", { metadata: { name: "worker-0" }, spec: { taints } });
  await world.pass(10 * minute);
  assert.deepEqual(world.events("MasterUninitialized"), []);
  assert.deepEqual(quiet.unready(), []);
  quiet.stop();
  await quiet.ended;
  const keeper = world.start("--wait-for-masters");
  await world.pass(2 * minute - 5_000);
  assert.deepEqual(keeper.unready(), []);
  await world.pass(10_000);
  assert.deepEqual(keeper.unready(), ["masters-source"]);
  assert.match(keeper.lines.join(""), /timeout waiting for master nodes: master-0/);
  const [event, ...more] = world.eventsOf("MasterUninitialized");
  assert.deepEqual([event!.involvedObject.kind, event!.involvedObject.name, more.length], ["Node", "master-0", 0]);
  await world.say("PATCH", "/api/v1/nodes/master-0", { spec: { taints: [] } });
  await world.pass(1000);
  assert.deepEqual(keeper.unready(), []);
});

test("masters: each has its own two minutes, and each is told of", async () => {
  const world = new ArtifactsWorld();
  await world.install();
  const keeper = world.start("--wait-for-masters");
  const taints = [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }];
  const labels = { "node-role.kubernetes.io/control-plane": "" };
  const join = (name: string) => world.say("POST", "/api/v1/nodes", { metadata: { name, labels }, spec: { taints } });
  const told = () => world.eventsOf("MasterUninitialized").map(({ involvedObject }) => involvedObject.name);
  await join("master-0");
  await world.pass(minute);
  await join("master-1");
  await world.pass(30_000);
  await world.say("PATCH", "/api/v1/nodes/master-0", { spec: { taints: [] } });
  await world.pass(minute);
  assert.deepEqual([keeper.unready(), told()], [[], []], "master-1 has had ninety seconds");
  await world.pass(40_000);
  assert.deepEqual([keeper.unready(), told()], [["masters-source"], ["master-1"]]);
  await join("master-2");
  await world.pass(2 * minute + 10_000);
  assert.deepEqual(told(), ["master-1", "master-2"]);
});

const installMap = "/api/v1/namespaces/d8-system/configmaps";

/** The configuration as it is stored. */
const storedConfiguration = (world: ArtifactsWorld) =>
  Buffer.from(
    world.find("secrets", "d8-provider-cluster-configuration").data["cloud-provider-cluster-configuration.yaml"],
    "base64",
  ).toString();

test("root disks: nothing is written without the flag; with it sizes are, the Secret is saved before, and once is enough", async () => {
  const { world, keeper } = await kept();
  assert.doesNotMatch(storedConfiguration(world), /diskSizeGb/);
  keeper.stop();
  await keeper.ended;
  const before = world.find("secrets", "d8-provider-cluster-configuration").data;
  world.writes.length = 0;
  const migrating = world.start("--root-disk-migration");
  await world.pass(minute);
  assert.match(storedConfiguration(world), /diskSizeGb: 20/);
  assert.deepEqual(world.find("secrets", "d8-provider-cluster-configuration-bkp-disk-gb").data, before);
  assert.deepEqual(world.writes, ["POST /api/v1/namespaces/kube-system/secrets", `PATCH ${configurationPath}`]);
  assert.doesNotMatch(migrating.lines.join(), /of-no-worth/);
  await world.pass(20 * minute);
  assert.equal(world.writes.length, 2);
});

test("root disks: a stop between saving and writing is gone on with, and the first save is the one that stays", async () => {
  const world = new ArtifactsWorld();
  await world.install();
  const match = ({ method, url }: { method: string; url: URL }) => method === "PATCH" && url.pathname === configurationPath;
  const lift = world.cluster.faults.add({ match, effect: { kind: "refuse", status: 500 } });
  const first = world.start("--root-disk-migration");
  await world.pass(minute);
  const saved = world.find("secrets", "d8-provider-cluster-configuration-bkp-disk-gb");
  assert.doesNotMatch(storedConfiguration(world), /diskSizeGb/);
  first.stop();
  await first.ended;
  lift();
  await world.configure({ ...exampleFile.clusterConfiguration, tags: { env: "later" } });
  world.start("--root-disk-migration");
  await world.pass(minute);
  assert.match(storedConfiguration(world), /diskSizeGb: 20\n.*env: later/s);
  assert.deepEqual(world.find("secrets", "d8-provider-cluster-configuration-bkp-disk-gb"), saved);
});

test("root disks: a newer cluster is left alone, and a version that is none is told and changes nothing", async () => {
  for (const [version, problem] of [
    ["v1.63.0", undefined],
    ["dev", undefined],
    ["main", /sizes of root disks are not written: ConfigMap d8-system\/install-data: version: "main" is no version/],
  ] as const) {
    const world = new ArtifactsWorld();
    await world.install();
    await world.say("POST", "/api/v1/namespaces", { metadata: { name: "d8-system" } });
    await world.say("POST", installMap, { metadata: { name: "install-data" }, data: { version } });
    const keeper = world.start("--root-disk-migration");
    await world.pass(minute);
    assert.doesNotMatch(storedConfiguration(world), /diskSizeGb/);
    assert.deepEqual(keeper.unready(), problem === undefined ? [] : ["root-disks-source"]);
    if (problem !== undefined) assert.match(keeper.lines.join("").replaceAll("\\", ""), problem);
  }
});
