/** The whole story: a layout makes a network and machines, a cluster works on them, and in the end nothing is left of either. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DescribeLoadBalancersCommand, ElasticLoadBalancingClient } from "@aws-sdk/client-elastic-load-balancing";
import { Clouds } from "../../../src/aws/cloud.ts";
import { noSettings } from "../../../src/aws/settings.ts";
import { openGate } from "../../../src/runtime/gate.ts";
import { silentLog } from "../../../src/runtime/log.ts";
import { newRegistry } from "../../../src/runtime/metrics.ts";
import { compareSnapshots } from "../../../src/sandbox/cloud/controls/compare.ts";
import { describeRoute } from "../../../src/sandbox/cloud/ec2/routes.ts";
import { sdkConfig } from "../../../src/sandbox/cloud/sdk-handler.ts";
import { controllerMethods } from "../../../src/volumes/controller/methods.ts";
import { controllerContext } from "../../../src/volumes/controller/service.ts";
import { type NodeWorld, nodeWorld } from "../../bed/node-world.ts";
import { loadClients } from "../../bed/service-world.ts";
import { createRequest, publishRequest } from "../../bed/volume-world.ts";
import { awsOf } from "./aws/account.ts";
import { ami, clusterUUID, configuration, inputs, layouts } from "./inputs.ts";
import { standInProvider } from "./provider.ts";
import { startTofu } from "./tofu.ts";

const region = "us-east-1";
const zones = [`${region}a`, `${region}b`, `${region}c`];
const clusterTag = `kubernetes.io/cluster/${clusterUUID}`;

interface Discovery {
  readonly loadBalancerSecurityGroup: string;
  readonly zoneToSubnetIdMap: Readonly<Record<string, string>>;
}

for (const layout of layouts) {
  test(`${layout.name}: nodes, routes, load balancers and volumes work on what the layout made, and nothing is left when it is destroyed`, async (t) => {
    const world = await nodeWorld();
    t.after(() => world.close());
    await loadClients();
    world.aws.controls.change({ checkInstanceProfiles: true, quotas: { addresses: 20 } });
    // Besides, the account has the network of another cluster, which must not be touched.
    const before = world.aws.controls.snapshot();
    const tofu = await startTofu(t, await standInProvider(awsOf(world.aws, (ms) => world.world.advance(ms))));

    const config = configuration(layout, region, {
      zones,
      masterNodeGroup: { replicas: 2, zones, instanceClass: { instanceType: "m5.large", ami } },
      nodeGroups: [{ name: "system", replicas: 1, instanceClass: { instanceType: "m5.large", ami } }],
    });
    const path = `layouts/${layout.folder}`;
    const steps = [
      { step: tofu.step("base", `${path}/base-infrastructure`), more: {} },
      ...[0, 1].map((nodeIndex) => ({ step: tofu.step(`master-${nodeIndex}`, `${path}/master-node`), more: { nodeIndex } })),
      { step: tofu.step("system-0", `${path}/static-node`), more: { nodeIndex: 0, nodeGroupName: "system" } },
    ];
    for (const { step, more } of steps) await step.apply(inputs(config, more));
    const data = (await steps[0]!.step.outputs()).cloud_discovery_data as Discovery;

    const { ec2 } = world.aws.account;
    const machines = ec2.instances.values().filter(({ tags, state }) => clusterTag in tags && state === "running");
    assert.equal(machines.length, 3);
    const [subnet] = Object.values(data.zoneToSubnetIdMap);
    await world.world.files.write(
      "/etc/cloud",
      `[Global]\nRegion=${region}\nVPC=${machines[0]!.vpcId}\nSubnetID=${subnet}\nKubernetesClusterID="${clusterUUID}"\n` +
        `ElbSecurityGroup="${data.loadBalancerSecurityGroup}"\n`,
      0o600,
    );
    const manager = world.start("--cluster-cidr=10.200.0.0/16");
    for (const [index, machine] of machines.entries()) {
      const name = await world.join(machine);
      await world.say("PATCH", `/api/v1/nodes/${name}`, { spec: { podCIDR: `10.200.${index}.0/24`, podCIDRs: [`10.200.${index}.0/24`] } });
    }
    await world.until("nodes initialised", () => world.initialized() === machines.length, 600_000);
    const labels = machines.map(({ privateDnsName }) => world.node(privateDnsName)?.metadata?.labels?.["topology.kubernetes.io/zone"]);
    assert.deepEqual(
      labels,
      machines.map(({ zone }) => zone),
    );

    await world.until("pod routes", () => podRoutes(world, machines[0]!.vpcId!).length === machines.length, 600_000);
    const marked = ec2.routeTables.values().filter(({ vpcId, tags }) => vpcId === machines[0]!.vpcId && clusterTag in tags);
    assert.deepEqual(new Set(podRoutes(world, machines[0]!.vpcId!).map(({ table }) => table)), new Set(marked.map(({ id }) => id)));

    await checkLoadBalancer(
      world,
      data,
      machines.map(({ id }) => id),
    );
    await checkVolume(world, machines[0]!);

    manager.stop();
    await world.world.settle();
    for (const { step, more } of steps.toReversed()) await step.destroy(inputs(config, more));
    await world.world.advance(24 * 3_600_000);
    world.aws.account.time.settle();
    // The role that AWS makes with an account's first load balancer stays for ever.
    const left = compareSnapshots(before, world.aws.controls.snapshot()).filter(({ table }) => table !== "iam/service-linked-roles");
    assert.deepEqual(left, []);
  });
}

function podRoutes(world: NodeWorld, vpcId: string): readonly { readonly table: string; readonly destination: string }[] {
  const { ec2 } = world.aws.account;
  const tables = ec2.routeTables.values().filter((table) => table.vpcId === vpcId);
  return tables.flatMap(({ id, routes }) =>
    routes
      .filter((route) => route.destination.startsWith("10.200.") && describeRoute(ec2, route).State === "active")
      .map(({ destination }) => ({ table: id, destination })),
  );
}

/** A Service gets a load balancer in the layout's public subnets, with its group, before all nodes; and gives it back. */
async function checkLoadBalancer(world: NodeWorld, data: Discovery, machines: readonly string[]): Promise<void> {
  const path = "/api/v1/namespaces/default/services";
  await world.say("POST", path, { metadata: { name: "web" }, spec: { type: "LoadBalancer", ports: [{ port: 80 }] } });
  const service = () => world.cluster.objects("services").find(({ metadata }) => metadata.name === "web") as Published | undefined;
  await world.until("an address of the Service", () => service()?.status?.loadBalancer?.ingress?.[0]?.hostname !== undefined, 600_000);
  const client = new ElasticLoadBalancingClient(sdkConfig(world.aws));
  const { LoadBalancerDescriptions = [] } = await client.send(new DescribeLoadBalancersCommand({}));
  const [balancer] = LoadBalancerDescriptions;
  assert.deepEqual(balancer!.SecurityGroups, [data.loadBalancerSecurityGroup]);
  assert.deepEqual(balancer!.Instances!.map(({ InstanceId }) => InstanceId).sort(), [...machines].sort());
  const names = balancer!.Subnets!.map((id) => world.aws.account.ec2.subnets.get(id)!.tags.Name!);
  assert.ok(names.length > 0 && names.every((name) => name.startsWith("demo-public-")), names.join());

  await world.say("DELETE", `${path}/web`);
  await world.until("the Service gone", () => service() === undefined, 600_000);
  assert.deepEqual((await client.send(new DescribeLoadBalancersCommand({}))).LoadBalancerDescriptions, []);
}

interface Published {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly hostname?: string }[] } };
}

/** A volume is made in a machine's zone, attached to it, detached and deleted. */
async function checkVolume(world: NodeWorld, machine: { readonly id: string; readonly zone: string }): Promise<void> {
  const host = { world: world.world, log: silentLog, metrics: newRegistry() };
  const clouds = new Clouds({
    host,
    transport: world.aws.handle,
    gate: openGate(),
    settings: { ...noSettings, region },
    version: "0.0.0-test",
  });
  const tags = { extraTags: {}, clusterId: clusterUUID, warnOnInvalid: false };
  const methods = controllerMethods(controllerContext(host, clouds.in(region), { tags, nodeLocalVolumes: false, modifyWindowMs: 2_000 }));
  const call = async <T>(method: string, request: object): Promise<T> => {
    let done = false;
    const answer = methods[method]!(request as never, { name: method, signal: new AbortController().signal }) as Promise<T>;
    const over = () => {
      done = true;
    };
    answer.then(over, over);
    await world.until(method, () => done, 600_000);
    return await answer;
  };
  const { volume } = await call<{ volume: { volumeId: string } }>("CreateVolume", createRequest("pvc-1", machine.zone));
  const attached = () =>
    world.aws.account.ec2.volumes.get(volume.volumeId)?.attachments.map(({ instanceId, state }) => [instanceId, state]);
  await call("ControllerPublishVolume", publishRequest(volume.volumeId, machine.id));
  assert.deepEqual(attached(), [[machine.id, "attached"]]);
  await call("ControllerUnpublishVolume", { volumeId: volume.volumeId, nodeId: machine.id });
  await call("DeleteVolume", { volumeId: volume.volumeId });
}
