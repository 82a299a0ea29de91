import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeView } from "../identity/node-view.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Host } from "../runtime/host.ts";
import { findSettings, regionOfNodes } from "./cluster-settings.ts";

const node = (providerID: string | undefined, labels: Record<string, string> = {}, name = "n") =>
  nodeView({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, uid: "u", resourceVersion: "1", labels },
    spec: providerID === undefined ? {} : { providerID },
  });
const zone = (value: string) => ({ "topology.kubernetes.io/zone": value });

for (const [what, nodes, region] of [
  ["the zone of a provider ID", [node("aws:///eu-west-1a/i-1")], "eu-west-1"],
  ["the zone label, where the provider ID has none", [node("aws:////i-1", zone("us-west-2-lax-1a"))], "us-west-2"],
  ["the region label alone", [node(undefined, { "topology.kubernetes.io/region": "eu-west-1" })], "eu-west-1"],
  ["the private DNS name of a fresh Node", [node(undefined, {}, "ip-10-0-0-1.eu-west-1.compute.internal")], "eu-west-1"],
  ["that of the oldest region too, which has none in its name", [node(undefined, {}, "ip-10-0-0-1.ec2.internal")], "us-east-1"],
  ["those Nodes that say", [node(undefined), node("aws:///eu-west-1a/i-1")], "eu-west-1"],
  [
    "AWS's Nodes among another cloud's",
    [node("gce://p/us-central1-a/x", zone("us-central1-a")), node("aws:///eu-west-1a/i-1")],
    "eu-west-1",
  ],
  ["nobody, when Nodes do not agree", [node("aws:///eu-west-1a/i-1"), node("aws:///us-east-1a/i-2")], undefined],
  ["nobody, when a zone is none of AWS", [node(undefined, zone("rack7"))], undefined],
  ["nobody, without Nodes", [], undefined],
] as const) {
  test(`the region is told by ${what}`, () => assert.equal(regionOfNodes(nodes), region));
}

test("a pod of another namespace that has the labels does not stand in for the controllers of kube-system", async () => {
  const pod = (namespace: string, region: string) => ({
    metadata: { namespace, name: "manager" },
    spec: { containers: [{ name: "c", args: ["--cloud-provider=aws"], env: [{ name: "AWS_REGION", value: region }] }] },
  });
  const settings = (...pods: readonly object[]) => {
    const list = async (_: unknown, { labelSelector = "" }) => ({ items: labelSelector.includes("=controller-manager") ? pods : [] });
    const kube = { config: { fromFile: true }, list } as unknown as KubeClient;
    return findSettings({} as Host, kube, { "cloud-config": "", "strict-cloud-config": false }, new AbortController().signal);
  };
  const both = await settings(pod("guest", "eu-north-1"), pod("kube-system", "us-east-1"));
  assert.equal(both.config.aws.region, "us-east-1");
  assert.deepEqual(both.notes, [
    "pods that call themselves controller managers run in kube-system and guest: the settings are those of pod kube-system/manager",
  ]);
  const elsewhere = await settings(pod("fairlead", "us-east-1"));
  assert.deepEqual([elsewhere.config.aws.region, elsewhere.notes], ["us-east-1", []]);
});
