import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { Metadata } from "../../aws/metadata.ts";
import { noSettings } from "../../aws/settings.ts";
import { smallMetadata } from "../../aws/testing/small-metadata.ts";
import type { Node } from "../../kube/types.ts";
import { silentLog } from "../../runtime/log.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { countMacs, type MetadataOptions, NoMetadata, nodeFacts } from "./metadata.ts";

const document = { instanceId: "i-0abc", instanceType: "m5.large", region: "us-west-2", availabilityZone: "us-west-2a" };
const signal = new AbortController().signal;

function options(paths: Readonly<Record<string, string>>, node: Node | undefined, more: Partial<MetadataOptions> = {}): MetadataOptions {
  const world = virtualWorld(1);
  return {
    sources: ["imds", "kubernetes"],
    metadata: new Metadata(world, smallMetadata(paths).transport, noSettings),
    node: node && (async () => node),
    nodeName: "node-1",
    region: undefined,
    clock: world.clock,
    log: silentLog,
    ...more,
  };
}

const imds = (more: Readonly<Record<string, string>> = {}) => ({ "dynamic/instance-identity/document": JSON.stringify(document), ...more });

const kubeNode: Node = {
  metadata: {
    name: "node-1",
    labels: {
      "node.kubernetes.io/instance-type": "ml.m7i.large",
      "topology.kubernetes.io/region": "us-west-2",
      "topology.kubernetes.io/zone": "us-west-2b",
    },
  },
  spec: { providerID: "aws:///us-west-2b/i-0def" },
};

const factsWith = async (given: MetadataOptions) => (await nodeFacts(given, signal))(signal);

test("the metadata service tells instance, interfaces and further disks", async () => {
  const paths = imds({
    "meta-data/network/interfaces/macs/": "02:00:00:00:00:01/\n02:00:00:00:00:02/",
    "meta-data/block-device-mapping/": "ami\nebs1\nebs2\nroot",
  });
  assert.deepEqual(await factsWith(options(paths, undefined)), {
    instanceId: "i-0abc",
    instanceType: "m5.large",
    region: "us-west-2",
    zone: "us-west-2a",
    networkInterfaces: 2,
    otherVolumes: 2,
    outpostArn: undefined,
  });
});

test("without the metadata service the Node tells it", async () => {
  assert.deepEqual(await factsWith(options({}, kubeNode)), {
    instanceId: "i-0def",
    instanceType: "m7i.large",
    region: "us-west-2",
    zone: "us-west-2b",
    networkInterfaces: 1,
    otherVolumes: 0,
    outpostArn: undefined,
  });
});

for (const name of Object.keys(document)) {
  test(`an identity document without ${name} is not used`, async () => {
    const partial = { "dynamic/instance-identity/document": JSON.stringify({ ...document, [name]: "" }) };
    assert.equal((await factsWith(options(partial, kubeNode))).instanceId, "i-0def");
  });
}

test("when no source knows the node, the reasons of all are told", async () => {
  const error = await factsWith(options({}, undefined)).catch((reason: unknown) => reason);
  assert.ok(error instanceof NoMetadata);
  assert.match(
    error.message,
    /^all specified --metadata-sources imds,kubernetes are unavailable: imds: .*; kubernetes: there is no Kubernetes client$/,
  );
});

test("a HyperPod node is not asked for instance metadata, and its whole id is kept", async () => {
  const node = { ...kubeNode, spec: { providerID: "aws:///x/sagemaker/cluster/hyperpod-abc123-i-0aaa" } };
  const facts = await factsWith(options(imds(), node, { nodeName: "hyperpod-i-0aaa" }));
  assert.equal(facts.instanceId, "hyperpod-abc123-i-0aaa");
});

test("labels of the labeller, or of SageMaker, tell what takes places on the node", async () => {
  const labelled = (labels: Readonly<Record<string, string>>) => ({
    ...kubeNode,
    metadata: { labels: { ...kubeNode.metadata!.labels, ...labels } },
  });
  const own = labelled({ "ebs.csi.aws.com/enis-count": "3", "ebs.csi.aws.com/non-csi-ebs-volumes-count": "2" });
  const source = { sources: ["metadata-labeler"] as const };
  assert.partialDeepStrictEqual(await factsWith(options({}, own, source)), { networkInterfaces: 3, otherVolumes: 2 });
  const sageMaker = labelled({
    "sagemaker.amazonaws.com/num-eni-attachments": "4",
    "sagemaker.amazonaws.com/num-block-device-mappings": "1",
  });
  assert.partialDeepStrictEqual(await factsWith(options({}, sageMaker, source)), { networkInterfaces: 4, otherVolumes: 1 });
  assert.partialDeepStrictEqual(await factsWith(options({}, sageMaker, { sources: ["kubernetes"] })), {
    networkInterfaces: 4,
    otherVolumes: 1,
  });
});

for (const [what, change, why] of [
  ["without a type", { labels: { "node.kubernetes.io/instance-type": "" } }, /no label node.kubernetes.io\/instance-type/],
  ["without a region", { labels: { "topology.kubernetes.io/region": "" } }, /no label topology.kubernetes.io\/region/],
  ["without a zone", { labels: { "topology.kubernetes.io/zone": "" } }, /no label topology.kubernetes.io\/zone/],
  ["without a provider ID", { providerID: "" }, /provider ID "" names no instance/],
  ["of another cloud", { providerID: "gce://project/zone/machine" }, /names no instance/],
] as const satisfies readonly (readonly [string, { labels?: Record<string, string>; providerID?: string }, RegExp])[]) {
  test(`a Node ${what} tells nothing`, async () => {
    const { labels = {}, providerID } = change as { labels?: Record<string, string>; providerID?: string };
    const node = {
      metadata: { labels: { ...kubeNode.metadata!.labels, ...labels } },
      spec: { providerID: providerID ?? kubeNode.spec!.providerID! },
    };
    await assert.rejects(factsWith(options({}, node, { sources: ["kubernetes"] })), why);
  });
}

test("labels that are missing or no numbers: the labeller's are waited for in vain, SageMaker's pass for none", async () => {
  const labels = { ...kubeNode.metadata!.labels, "sagemaker.amazonaws.com/num-eni-attachments": "many" };
  const node = { ...kubeNode, metadata: { labels } };
  assert.partialDeepStrictEqual(await factsWith(options({}, node, { sources: ["kubernetes"] })), { networkInterfaces: 1, otherVolumes: 0 });
  const world = virtualWorld(1);
  const waiting = nodeFacts(options({}, node, { sources: ["metadata-labeler"], clock: world.clock }), signal);
  waiting.catch(() => {});
  await world.advance(10_000);
  await assert.rejects(waiting, /the Node lacks the labels ebs.csi.aws.com\/enis-count/);
});

test("a node on an Outpost knows it; one whose metadata service fails to say is asked elsewhere", async () => {
  const arn = "arn:aws:outposts:us-west-2:123456789012:outpost/op-1";
  assert.equal((await factsWith(options(imds({ "meta-data/outpost-arn": arn }), undefined))).outpostArn, arn);
  const world = virtualWorld(1);
  const { transport } = smallMetadata(imds());
  const broken: typeof transport = async (request) =>
    request.url.pathname.endsWith("outpost-arn") ? { status: 500, headers: {}, body: Readable.from([]) } : transport(request);
  const asked = factsWith(options({}, kubeNode, { metadata: new Metadata(world, broken, noSettings), clock: world.clock }));
  await world.advance(120_000);
  assert.equal((await asked).instanceId, "i-0def");
});

test("AWS_REGION goes before what the node says", async () => {
  assert.equal((await factsWith(options(imds(), undefined, { region: "eu-west-1" }))).region, "eu-west-1");
});

test("addresses are counted however they are written", () => {
  assert.equal(countMacs("02:00:00:00:00:01/\r\n02:00:00:00:00:02/"), 2);
  assert.equal(countMacs("02:00:00:00:00:01/02:00:00:00:00:02/"), 2);
  assert.equal(countMacs(""), 0);
});
