import assert from "node:assert/strict";
import { test } from "node:test";
import { accessRoles, cniSecret, controllerManagerSecret } from "./module-objects.ts";
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

test("who may use instance classes, and the module's settings, by the names and marks that the platform knows", () => {
  type Role = {
    metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
    rules: { verbs: string[] }[];
  };
  const [user, admin, view, edit] = accessRoles as readonly Role[];
  assert.equal(user!.metadata.name, "d8:user-authz:cloud-provider-aws:user");
  assert.equal(user!.metadata.annotations?.["user-authz.deckhouse.io/access-level"], "User");
  assert.deepEqual(admin!.rules[0]!.verbs, ["create", "delete", "deletecollection", "patch", "update"]);
  assert.deepEqual(view!.metadata.labels, {
    heritage: "deckhouse",
    module: "cloud-provider-aws",
    "rbac.deckhouse.io/kind": "manage",
    "rbac.deckhouse.io/level": "module",
    "rbac.deckhouse.io/namespace": "d8-cloud-provider-aws",
    "rbac.deckhouse.io/aggregate-to-infrastructure-as": "viewer",
  });
  assert.equal(edit!.metadata.labels["rbac.deckhouse.io/aggregate-to-infrastructure-as"], "manager");
});
