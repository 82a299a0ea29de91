import assert from "node:assert/strict";
import { test } from "node:test";
import { additionalLabels, networkLayerLabels, placeLabels, stableLabels } from "./labels.ts";

test("type, zone and region each have an old and a stable name; what is not known is left out", () => {
  assert.deepEqual(placeLabels({ instanceType: "m5.large", zone: "us-east-1a", region: "us-east-1" }), {
    "beta.kubernetes.io/instance-type": "m5.large",
    "node.kubernetes.io/instance-type": "m5.large",
    "failure-domain.beta.kubernetes.io/zone": "us-east-1a",
    "topology.kubernetes.io/zone": "us-east-1a",
    "failure-domain.beta.kubernetes.io/region": "us-east-1",
    "topology.kubernetes.io/region": "us-east-1",
  });
  assert.deepEqual(placeLabels({ instanceType: "" }), {});
});

test("network layers are numbered from the first of AWS's list", () => {
  assert.deepEqual(networkLayerLabels(["nn-a", "nn-b"]), {
    "topology.k8s.aws/network-node-layer-1": "nn-a",
    "topology.k8s.aws/network-node-layer-2": "nn-b",
  });
});

test("additional labels never take a reserved name and never overwrite", () => {
  const wanted = {
    "topology.kubernetes.io/x": "1",
    "topology.k8s.io/x": "1",
    "kubernetes.io/x": "1",
    "k8s.io/x": "1",
    "app.k8snio/x": "1",
    "topology.k8s.aws/zone-id": "use1-az1",
  };
  const { add, warnings } = additionalLabels({ "topology.k8s.aws/zone-id": "use1-az2" }, wanted);
  assert.deepEqual(add, { "app.k8snio/x": "1" });
  assert.equal(warnings.length, 5);
});

test("the stable label follows the old one", () => {
  const zone = "failure-domain.beta.kubernetes.io/zone";
  assert.deepEqual(stableLabels({ [zone]: "a" }), { "topology.kubernetes.io/zone": "a" });
  assert.deepEqual(stableLabels({ [zone]: "a", "topology.kubernetes.io/zone": "b" }), { "topology.kubernetes.io/zone": "a" });
  assert.equal(stableLabels({ [zone]: "a", "topology.kubernetes.io/zone": "a" }), undefined);
  assert.equal(stableLabels({ "topology.kubernetes.io/zone": "b" }), undefined);
});
