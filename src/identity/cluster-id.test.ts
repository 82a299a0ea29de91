import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tags } from "../aws/instance.ts";
import { configuredClusterId, discoverClusterId } from "./cluster-id.ts";
import { hasClusterTag, isOwned, ownershipTags } from "./ownership.ts";

test("the configured id is taken, and a configured legacy tag switches legacy marks on", () => {
  assert.equal(configuredClusterId({}), undefined);
  assert.deepEqual(configuredClusterId({ clusterId: "prod" }), { id: "prod", legacy: false });
  assert.deepEqual(configuredClusterId({ clusterTag: "prod" }), { id: "prod", legacy: true });
  assert.deepEqual(configuredClusterId({ clusterId: "prod", clusterTag: "prod" }), { id: "prod", legacy: true });
});

test("an id and a legacy tag that differ are refused", () => {
  const refusal = { message: 'clusterID tags did not match: "a" vs "b"' };
  assert.throws(() => configuredClusterId({ clusterId: "a", clusterTag: "b" }), refusal);
  assert.throws(() => discoverClusterId({ "kubernetes.io/cluster/a": "owned", KubernetesCluster: "b" }), refusal);
});

test("the id is discovered from either tag, whatever the value of the prefixed one", () => {
  for (const value of ["owned", "shared", ""]) {
    assert.deepEqual(discoverClusterId({ "kubernetes.io/cluster/prod": value, Name: "x" }), { id: "prod", legacy: false });
  }
  assert.deepEqual(discoverClusterId({ KubernetesCluster: "prod" }), { id: "prod", legacy: true });
  assert.deepEqual(discoverClusterId({ KubernetesCluster: "prod", "kubernetes.io/cluster/prod": "owned" }), { id: "prod", legacy: true });
});

test("two cluster tags are refused, and none is refused with what to do", () => {
  assert.throws(() => discoverClusterId({ "kubernetes.io/cluster/a": "owned", "kubernetes.io/cluster/b": "owned" }), {
    message: 'Found multiple cluster tags with prefix kubernetes.io/cluster/ ("a" and "b")',
  });
  for (const tags of [{}, { "kubernetes.io/cluster/": "owned" }, { KubernetesCluster: "" }] as Tags[]) {
    assert.throws(() => discoverClusterId(tags), /^ClusterIdInvalid: AWS cloud failed to find ClusterID: set KubernetesClusterID/);
  }
});

test("a resource belongs to the cluster by either tag, and is owned only when it says so", () => {
  const cluster = { id: "prod", legacy: false };
  assert.ok(hasClusterTag({ "kubernetes.io/cluster/prod": "anything" }, cluster));
  assert.ok(hasClusterTag({ KubernetesCluster: "prod" }, cluster));
  assert.ok(hasClusterTag({ KubernetesCluster: "other", "kubernetes.io/cluster/prod": "shared" }, cluster));
  assert.ok(!hasClusterTag({ KubernetesCluster: "other", "kubernetes.io/cluster/other": "owned" }, cluster));
  assert.ok(isOwned({ "kubernetes.io/cluster/prod": "owned" }, cluster));
  assert.ok(isOwned({ KubernetesCluster: "prod" }, cluster));
  assert.ok(!isOwned({ "kubernetes.io/cluster/prod": "shared" }, cluster));
});

test("created resources carry the given tags and the cluster's mark, the legacy one only in legacy mode", () => {
  assert.deepEqual(ownershipTags({ id: "prod", legacy: false }, "owned", { Name: "web" }), {
    Name: "web",
    "kubernetes.io/cluster/prod": "owned",
  });
  assert.deepEqual(ownershipTags({ id: "prod", legacy: true }, "shared"), {
    "kubernetes.io/cluster/prod": "shared",
    KubernetesCluster: "prod",
  });
});
