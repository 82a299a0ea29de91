import assert from "node:assert/strict";
import { test } from "node:test";
import { isAllowed, placementOf, segmentsOf } from "./topology.ts";

const zone = "topology.kubernetes.io/zone";
const legacy = "topology.ebs.csi.aws.com/zone";
const zoneId = "topology.k8s.aws/zone-id";
const outpost = {
  "topology.ebs.csi.aws.com/partition": "aws",
  "topology.ebs.csi.aws.com/region": "us-west-2",
  "topology.ebs.csi.aws.com/account-id": "123456789012",
  "topology.ebs.csi.aws.com/outpost-id": "op-1",
};
const arn = "arn:aws:outposts:us-west-2:123456789012:outpost/op-1";
const of = (...all: readonly Readonly<Record<string, string>>[]) => all.map((segments) => ({ segments }));

test("what is preferred goes before what is allowed, and the well-known key before the old one", () => {
  assert.equal(placementOf({ requisite: of({ [zone]: "a" }), preferred: of({ [zone]: "b" }) }).zone, "b");
  assert.equal(placementOf({ requisite: of({ [zone]: "a" }), preferred: [] }).zone, "a");
  assert.equal(placementOf({ requisite: [], preferred: of({ [legacy]: "old", [zone]: "new" }) }).zone, "new");
  assert.equal(placementOf({ requisite: [], preferred: of({ [legacy]: "old" }) }).zone, "old");
  assert.deepEqual(placementOf(null), { zone: undefined, zoneId: undefined, outpostArn: undefined });
});

test("the zone's id is used only where its name is not known: EC2 takes one of them", () => {
  assert.deepEqual(placementOf({ requisite: [], preferred: of({ [zoneId]: "usw2-az1" }) }), {
    zone: undefined,
    zoneId: "usw2-az1",
    outpostArn: undefined,
  });
  assert.equal(placementOf({ requisite: [], preferred: of({ [zoneId]: "usw2-az1", [zone]: "a" }) }).zoneId, undefined);
});

test("an Outpost is named by four keys or by its ARN, and by less it is refused", () => {
  assert.equal(placementOf({ requisite: [], preferred: of({ [zone]: "a", ...outpost }) }).outpostArn, arn);
  assert.equal(placementOf({ requisite: [], preferred: of({ "topology.ebs.csi.aws.com/outpost-id": arn }) }).outpostArn, arn);
  const { "topology.ebs.csi.aws.com/region": _, ...partial } = outpost;
  assert.throws(() => placementOf({ requisite: [], preferred: of(partial) }), /needs .*region/);
});

test("a clone may be where its source is only if that is allowed; what is preferred does not count", () => {
  const place = { zone: "a", zoneId: "usw2-az1", outpostArn: undefined };
  assert.ok(isAllowed(null, place));
  assert.ok(isAllowed({ requisite: [], preferred: of({ [zone]: "b" }) }, place));
  assert.ok(isAllowed({ requisite: of({ [zone]: "b" }, { [legacy]: "a" }), preferred: [] }, place));
  assert.ok(isAllowed({ requisite: of({ [zoneId]: "usw2-az1" }), preferred: [] }, place));
  assert.ok(!isAllowed({ requisite: of({ [zone]: "b" }), preferred: of({ [zone]: "a" }) }, place));
  assert.ok(!isAllowed({ requisite: of({ [zone]: "a", ...outpost }), preferred: [] }, place));
  assert.ok(isAllowed({ requisite: of({ [zone]: "a", ...outpost }), preferred: [] }, { ...place, outpostArn: arn }));
});

test("a volume tells its zone, and its Outpost if it is on one", () => {
  assert.deepEqual(segmentsOf({ zone: "a", zoneId: undefined, outpostArn: undefined }), { segments: { [zone]: "a" } });
  assert.deepEqual(segmentsOf({ zone: "a", zoneId: undefined, outpostArn: arn }), { segments: { [zone]: "a", ...outpost } });
  assert.deepEqual(segmentsOf({ zone: "a", zoneId: undefined, outpostArn: "" }), { segments: { [zone]: "a" } });
});
