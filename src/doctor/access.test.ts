import assert from "node:assert/strict";
import { test } from "node:test";
import { hostLeaseNeeds, needText } from "./access.ts";

test("a pod of fairlead cluster needs the lease of its process besides; others need no more", () => {
  assert.deepEqual(hostLeaseNeeds({ hostLease: "kube-system/fairlead-cluster" }).map(needText), [
    "get leases.coordination.k8s.io/fairlead-cluster in kube-system",
    "update leases.coordination.k8s.io/fairlead-cluster in kube-system",
  ]);
  assert.deepEqual(hostLeaseNeeds({}), []);
});
