import assert from "node:assert/strict";
import { test } from "node:test";
import { type AwsSettings, noSettings } from "../aws/settings.ts";
import { eventual } from "../aws/testing/eventual.ts";
import { cloudOver, instanceId, SmallEc2, testKeys } from "../aws/testing/small-ec2.ts";
import { smallMetadata } from "../aws/testing/small-metadata.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { identifySelf } from "./self.ts";

const ask = { cause: "startup", signal: new AbortController().signal };
const region = "us-east-1";

async function identify(settings: AwsSettings, tags: Record<string, string> = {}, metadata: Record<string, string> = {}) {
  const world = virtualWorld(1, { environment: testKeys });
  const ec2 = new SmallEc2([{ id: instanceId(1), dnsName: "ip-10-0-0-1.ec2.internal", tags }]);
  const imds = smallMetadata(metadata);
  const transport = (request: Parameters<typeof ec2.transport>[0]) =>
    request.url.hostname === "169.254.169.254" ? imds.transport(request) : ec2.transport(request);
  const { clouds } = await cloudOver({ transport }, world, { settings });
  return { ec2, imds, self: eventual(world, identifySelf(settings, clouds, ask)) };
}

test("a remote control plane with subnet or role asks nobody", async () => {
  for (const settings of [
    { ...noSettings, region, vpc: "vpc-1", subnetId: "subnet-1", clusterId: "prod" },
    { ...noSettings, region, vpc: "vpc-1", roleArn: "arn:aws:iam::123456789012:role/ccm", clusterTag: "prod" },
  ]) {
    const { ec2, imds, self } = await identify(settings);
    const { instance, nodeName, cluster, vpc } = await self;
    assert.deepEqual([instance, nodeName, cluster.id, vpc], [undefined, "master-dummy", "prod", "vpc-1"]);
    assert.equal(ec2.calls.length + imds.requests.length, 0);
  }
});

test("a process that runs anywhere and needs no VPC asks nobody", async () => {
  const { ec2, imds, self } = await identify({ ...noSettings, region, clusterId: "prod", runsAnywhere: true, anyVpc: true });
  const { cluster, vpc } = await self;
  assert.deepEqual([cluster.id, vpc], ["prod", undefined]);
  assert.equal(ec2.calls.length + imds.requests.length, 0);
});

test("otherwise one DescribeInstances tells both the instance and the cluster", async () => {
  const { ec2, self } = await identify(
    { ...noSettings, region, vpc: "vpc-1" },
    { "kubernetes.io/cluster/prod": "owned" },
    { "meta-data/instance-id": instanceId(1) },
  );
  const { instance, nodeName, cluster, vpc } = await self;
  assert.deepEqual([instance?.id, nodeName, cluster.id, vpc], [instanceId(1), "ip-10-0-0-1.ec2.internal", "prod", "vpc-1"]);
  assert.equal(ec2.calls.length, 1);
});

test("an instance that AWS does not know, or a metadata service without an id, is said with the reference's words", async () => {
  const unknown = await identify({ ...noSettings, region }, {}, { "meta-data/instance-id": instanceId(9) });
  await assert.rejects(unknown.self, new RegExp(`error finding instance ${instanceId(9)}: "instance not found"`));
  const none = await identify({ ...noSettings, region });
  await assert.rejects(none.self, /error fetching instance-id from ec2 metadata service: .*set VPC, SubnetID and KubernetesClusterID/);
});
