/** What a platform needs, hosted by the one process of a cluster beside the controller manager. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stringify } from "yaml";
import { exampleFile } from "../../src/discovery/artifacts/testing.ts";
import { catalogDefinition } from "../../src/discovery/catalog-definition.ts";
import { nodeWorld } from "../bed/node-world.ts";
// Read from files, for which virtual time does not wait.
import "../../src/commands/artifacts/operate.ts";
import "../../src/commands/cloud-data-discoverer/program.ts";

const hour = 3_600_000;
const config = stringify({
  "controller-manager": {},
  "cloud-data-discoverer": { "discovery-period": "2h" },
  artifacts: { settings: "kube-system/fairlead-artifacts" },
});
const encoded = (text: string) => Buffer.from(text).toString("base64");

test("one process initialises nodes, discovers what the account offers every period, and keeps artifacts, under one lease each", async (t) => {
  const world = await nodeWorld();
  t.after(() => world.close());
  await world.say("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", catalogDefinition);
  const { clusterConfiguration, discoveryData, clusterUUID } = exampleFile;
  const of = "/api/v1/namespaces/kube-system";
  await world.say("POST", `${of}/configmaps`, { metadata: { name: "d8-cluster-uuid" }, data: { "cluster-uuid": clusterUUID } });
  await world.say("POST", `${of}/secrets`, {
    metadata: { name: "d8-provider-cluster-configuration" },
    data: {
      "cloud-provider-cluster-configuration.yaml": encoded(stringify(clusterConfiguration)),
      "cloud-provider-discovery-data.json": encoded(JSON.stringify(discoveryData)),
    },
  });
  const [instance] = world.launch(1);
  const process = world.startCluster(config);
  await world.join(instance!);
  const find = (resource: string, name: string) => world.cluster.objects(resource).find(({ metadata }) => metadata.name === name);
  await world.until(
    "everybody has done their work",
    () =>
      world.initialized() === 1 &&
      find("instancetypescatalogs.deckhouse.io", "for-cluster-autoscaler") !== undefined &&
      find("secrets", "d8-cloud-provider-discovery-data") !== undefined &&
      find("secrets", "d8-node-manager-cloud-provider") !== undefined,
    10 * 60_000,
  );
  const leases = world.cluster.objects("leases.coordination.k8s.io").map(({ metadata }) => metadata.name);
  assert.deepEqual(leases.toSorted(), ["cloud-controller-manager", "fairlead-artifacts", "fairlead-cluster"]);
  const cycles = () => Object.values(world.aws.controls.journal.counts()["ec2:DescribeInstanceTopology"] ?? {}).length;
  assert.ok(cycles() > 0);
  const pages = () =>
    Object.values(world.aws.controls.journal.counts()["ec2:DescribeInstanceTypes"] ?? {}).reduce((sum, each) => sum + each, 0);
  const first = pages();
  await world.world.advance(1.9 * hour);
  assert.equal(pages(), first, "the period is two hours");
  await world.world.advance(0.2 * hour);
  assert.equal(pages(), 2 * first);
  assert.match(await process.metrics(), /cloud_data_discovery_update_resource_error\{resource="instance_types"\} 0/);
  assert.match(await process.metrics(), /fairlead_artifacts_configuration_usable 1/);
  process.stop();
  await process.ended;
});

test("a mistake in the configuration of one program stops no other", async (t) => {
  const world = await nodeWorld();
  t.after(() => world.close());
  const [instance] = world.launch(1);
  // No definition of the catalogue, and no configuration of the platform.
  const process = world.startCluster(config);
  await world.join(instance!);
  await world.until("the node is initialised", () => world.initialized() === 1, 10 * 60_000);
  await world.world.advance(hour);
  assert.match(await process.metrics(), /cloud_data_discovery_update_resource_error\{resource="instance_types"\} 1/);
  assert.match(await process.metrics(), /fairlead_artifacts_configuration_usable 0/);
  process.stop();
  await process.ended;
});
