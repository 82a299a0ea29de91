import assert from "node:assert/strict";
import { test } from "node:test";
import { cniSecret, controllerManagerSecret } from "./module-objects.ts";
import { exampleFile, exampleInput } from "./testing.ts";

const dataOf = (object: object) =>
  Object.fromEntries(
    Object.entries((object as { data: Record<string, string> }).data).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]),
  );

test("the cloud config names the cluster and the group of load balancers, and client blocks only where they are set", () => {
  const { "cloud-config": usual, ...keys } = dataOf(controllerManagerSecret(exampleInput()));
  assert.equal(usual, '[Global]\nKubernetesClusterID = "aaaa-bbbb"\nElbSecurityGroup = "sg-0d"\n');
  assert.deepEqual(keys, { "aws-access-key-id": "AKIAIOSFODNN7EXAMPLE", "aws-secret-access-key": "of-no-worth" });
  const clusterConfiguration = { ...exampleFile.clusterConfiguration, publicNetworkAllowList: ["10.0.0.0/8", "192.0.2.0/24"] };
  const open = dataOf(controllerManagerSecret(exampleInput({ clusterConfiguration })))["cloud-config"];
  assert.match(open ?? "", /\nPublicNetworkAllowList = "10\.0\.0\.0\/8,192\.0\.2\.0\/24"\n$/);
});

test("a cluster without a network of pods gets cilium; what one has is kept, and nothing is added", () => {
  assert.deepEqual(dataOf(cniSecret(exampleInput())), { cni: "cilium", cilium: '{"mode":"VXLAN","masqueradeMode":"BPF"}' });
  const existingCNI = { cni: "flannel", flannel: '{"podNetworkMode":"HostGW"}' };
  assert.deepEqual(dataOf(cniSecret(exampleInput({ existingCNI }))), existingCNI);
  assert.throws(() => exampleInput({ existingCNI: { flannel: "{}" } }), /existingCNI: has no key cni/);
});
