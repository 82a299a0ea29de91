/**
 * The reference controller manager as judge of the simulated AWS: what it expects of nodes, routes and load balancers
 * it must find there, from a real cluster, without a complaint in its log.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AllocateAddressCommand, EC2Client } from "@aws-sdk/client-ec2";
import {
  DescribeLoadBalancersCommand as DescribeClassicCommand,
  DescribeInstanceHealthCommand,
  ElasticLoadBalancingClient,
  type LoadBalancerDescription,
} from "@aws-sdk/client-elastic-load-balancing";
import {
  DescribeListenersCommand,
  DescribeLoadBalancersCommand,
  DescribeTargetGroupsCommand,
  DescribeTargetHealthCommand,
  ElasticLoadBalancingV2Client,
  type LoadBalancer,
  type TargetGroup,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { nodes, services } from "../../src/kube/builtin.ts";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { eventually } from "../bed/bed.ts";
import { loadBalancerService, podBlock, type ReferenceCluster, referenceCluster } from "./reference-cluster.ts";

const PATIENCE_MS = 120_000;
const CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/11111111-2222-3333-4444-555555555555";

test("the reference initialises nodes and programs their routes", async (t) => {
  const { cluster, cloud, network, instances, errors } = await referenceCluster(t);
  for (const instance of instances) {
    const node = await eventually(async () => {
      const found = await cluster.admin.get(nodes, { name: instance.privateDnsName });
      assert.equal(found.spec?.providerID, `aws:///${instance.zone}/${instance.id}`);
      assert.ok(!found.spec?.taints?.some(({ key }) => key === "node.cloudprovider.kubernetes.io/uninitialized"));
      return found;
    }, PATIENCE_MS);
    assert.equal(node.metadata.labels?.["topology.kubernetes.io/zone"], instance.zone);
    assert.equal(node.metadata.labels?.["node.kubernetes.io/instance-type"], instance.type);
  }
  await eventually(() => {
    const { routes } = cloud.account.ec2.routeTables.get(network.privateTableId)!;
    for (const [index, instance] of instances.entries()) {
      const target = routes.find((route) => route.destination === podBlock(index))?.target;
      assert.equal(target?.kind === "interface" && target.instanceId, instance.id);
    }
  }, PATIENCE_MS);
  assert.deepEqual(await errors(), []);
});

test("the reference makes and deletes a classic and a network load balancer", async (t) => {
  const judged = await referenceCluster(t);
  const before = judged.cloud.controls.snapshot();
  await makeServices(judged, loadBalancerService("classic"), loadBalancerService("network", { type: "nlb" }));
  await classicServes(judged, await addressOf(judged, "classic"));
  await networkServes(judged, await addressOf(judged, "network"));
  await deleteServices(judged, "classic", "network");
  assertAsBefore(judged, before);
  assert.deepEqual(await judged.errors(), []);
});

test("the reference makes, changes and deletes load balancers with every annotation that asks something of AWS", async (t) => {
  const judged = await referenceCluster(t, "NLBSecurityGroupMode = Managed");
  judged.cloud.controls.change({ certificates: [CERTIFICATE] });
  const ec2 = new EC2Client(sdkConfig(judged.cloud));
  const allocations = await Promise.all([0, 1, 2].map(() => ec2.send(new AllocateAddressCommand({ Domain: "vpc" }))));
  const before = judged.cloud.controls.snapshot();
  const shared = { "additional-resource-tags": "team=a,stage=test", "cross-zone-load-balancing-enabled": "true" };
  const checks = {
    "healthcheck-protocol": "http",
    "healthcheck-path": "/healthz",
    "healthcheck-port": "10256",
    "healthcheck-interval": "5",
    "healthcheck-timeout": "3",
  };
  const classic = {
    ...shared,
    ...checks,
    "ssl-cert": CERTIFICATE,
    "ssl-ports": "https",
    "ssl-negotiation-policy": "ELBSecurityPolicy-TLS-1-2-2017-01",
    "proxy-protocol": "*",
    "access-log-enabled": "true",
    "access-log-emit-interval": "5",
    "access-log-s3-bucket-name": "logs",
    "connection-draining-enabled": "true",
    "connection-draining-timeout": "60",
    "connection-idle-timeout": "30",
    internal: "true",
  };
  const network = {
    ...shared,
    ...checks,
    type: "nlb",
    "eip-allocations": allocations.map(({ AllocationId }) => AllocationId).join(","),
    "target-group-attributes": "preserve_client_ip.enabled=false,proxy_protocol_v2.enabled=true",
  };
  const ports = { http: 80, https: 443 };
  await makeServices(judged, loadBalancerService("classic", classic, ports), loadBalancerService("network", network, ports));
  const made = await classicServes(judged, await addressOf(judged, "classic"));
  assert.deepEqual(made.ListenerDescriptions?.map((one) => one.Listener?.Protocol).sort(), ["SSL", "TCP"]);
  assert.match(made.DNSName!, /^internal-/);
  await networkServes(judged, await addressOf(judged, "network"));

  for (const name of ["classic", "network"]) {
    const { spec } = await judged.cluster.admin.get(services, { namespace: "default", name });
    const [http] = spec?.ports ?? [];
    await judged.cluster.admin.patch(services, { namespace: "default", name }, { merge: { spec: { ports: [{ ...http, port: 81 }] } } });
  }
  await eventually(async () => assert.deepEqual(await portsOf(judged), { classic: [81], network: [81] }), PATIENCE_MS);
  const labels = { "node.kubernetes.io/exclude-from-external-load-balancers": "true" };
  await judged.cluster.admin.patch(nodes, { name: judged.instances[0]!.privateDnsName }, { merge: { metadata: { labels } } });
  await eventually(async () => assert.equal((await classics(judged))[0]?.Instances?.length, 2), PATIENCE_MS);

  await deleteServices(judged, "classic", "network");
  assertAsBefore(judged, before);
  assert.deepEqual(await judged.errors(), []);
});

async function makeServices({ cluster }: ReferenceCluster, ...wanted: readonly ReturnType<typeof loadBalancerService>[]): Promise<void> {
  for (const service of wanted) await cluster.admin.create(services, service);
}

/** The host name that the reference has published. */
function addressOf({ cluster, errors }: ReferenceCluster, name: string): Promise<string> {
  return eventually(async () => {
    const { status } = await cluster.admin.get(services, { namespace: "default", name });
    const hostname = status?.loadBalancer?.ingress?.[0]?.hostname;
    assert.ok(hostname, `Service ${name} has no address; the reference says: ${(await errors()).join("\n")}`);
    return hostname;
  }, PATIENCE_MS);
}

async function classicServes(judged: ReferenceCluster, hostname: string): Promise<LoadBalancerDescription> {
  const elb = new ElasticLoadBalancingClient(sdkConfig(judged.cloud));
  const loadBalancer = (await classics(judged)).find((one) => one.DNSName === hostname)!;
  await eventually(async () => {
    const { InstanceStates } = await elb.send(new DescribeInstanceHealthCommand({ LoadBalancerName: loadBalancer.LoadBalancerName }));
    assert.deepEqual(
      InstanceStates?.map((one) => one.State),
      ["InService", "InService", "InService"],
    );
  }, PATIENCE_MS);
  return loadBalancer;
}

async function networkServes(judged: ReferenceCluster, hostname: string): Promise<void> {
  const elbv2 = new ElasticLoadBalancingV2Client(sdkConfig(judged.cloud));
  const { loadBalancers, groups } = await networks(judged);
  assert.ok(loadBalancers.some((one) => one.DNSName === hostname));
  for (const { TargetGroupArn } of groups) {
    await eventually(async () => {
      const { TargetHealthDescriptions } = await elbv2.send(new DescribeTargetHealthCommand({ TargetGroupArn }));
      assert.deepEqual(
        TargetHealthDescriptions?.map((one) => one.TargetHealth?.State),
        ["healthy", "healthy", "healthy"],
      );
    }, PATIENCE_MS);
  }
}

async function classics({ cloud }: ReferenceCluster): Promise<readonly LoadBalancerDescription[]> {
  const elb = new ElasticLoadBalancingClient(sdkConfig(cloud));
  return (await elb.send(new DescribeClassicCommand({}))).LoadBalancerDescriptions ?? [];
}

async function networks({ cloud }: ReferenceCluster): Promise<{ loadBalancers: readonly LoadBalancer[]; groups: readonly TargetGroup[] }> {
  const elbv2 = new ElasticLoadBalancingV2Client(sdkConfig(cloud));
  const { LoadBalancers: loadBalancers = [] } = await elbv2.send(new DescribeLoadBalancersCommand({}));
  const { TargetGroups: groups = [] } = await elbv2.send(new DescribeTargetGroupsCommand({}));
  return { loadBalancers, groups };
}

async function portsOf(judged: ReferenceCluster): Promise<Readonly<Record<string, readonly (number | undefined)[]>>> {
  const elbv2 = new ElasticLoadBalancingV2Client(sdkConfig(judged.cloud));
  const [classic] = await classics(judged);
  const { loadBalancers } = await networks(judged);
  const { Listeners } = await elbv2.send(new DescribeListenersCommand({ LoadBalancerArn: loadBalancers[0]?.LoadBalancerArn }));
  return {
    classic: classic?.ListenerDescriptions?.map((one) => one.Listener?.LoadBalancerPort) ?? [],
    network: Listeners?.map((one) => one.Port) ?? [],
  };
}

async function deleteServices({ cluster }: ReferenceCluster, ...names: readonly string[]): Promise<void> {
  for (const name of names) await cluster.admin.delete(services, { namespace: "default", name });
  await eventually(async () => {
    const { items } = await cluster.admin.list(services, { namespace: "default" });
    const left = items.map(({ metadata }) => metadata.name).filter((name) => names.includes(name));
    assert.deepEqual(left, []);
  }, PATIENCE_MS);
}

/** Nothing of the load balancers is left, in either service or in EC2, and nothing was asked that is not modelled. */
function assertAsBefore({ cloud }: ReferenceCluster, before: ReturnType<ReferenceCluster["cloud"]["controls"]["snapshot"]>): void {
  const after = cloud.controls.snapshot();
  for (const table of ["elb/load-balancers", "elbv2/load-balancers", "elbv2/listeners", "elbv2/target-groups", "elbv2/targets"]) {
    assert.deepEqual(after[table], before[table], table);
  }
  const ids = (snapshot: typeof after, table: string) => Object.keys(snapshot[table] ?? {}).sort();
  for (const table of ["ec2/security-groups", "ec2/security-group-rules", "ec2/network-interfaces"]) {
    assert.deepEqual(ids(after, table), ids(before, table), table);
  }
  const unmodelled = Object.entries(cloud.controls.journal.counts()).filter(([, results]) => "InvalidAction" in results);
  assert.deepEqual(unmodelled, []);
}
