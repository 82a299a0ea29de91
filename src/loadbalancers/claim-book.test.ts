import assert from "node:assert/strict";
import { test } from "node:test";
import { ClaimBook, type Owner } from "./claim-book.ts";
import type { Claim } from "./node-rules.ts";

const owner: Owner = { key: "default/web", uid: "u", kind: "network", loadBalancer: "a" };
const claim: Claim = { nodeGroups: ["sg-1"], rules: [], marks: { descriptions: ["d"], sources: [] }, former: [] };

function book() {
  const claims = new ClaimBook();
  const work: string[] = [];
  const told: string[] = [];
  claims.onWork((group) => work.push(group));
  claims.onSettled((key) => told.push(key));
  return { claims, work, told };
}

test("a claim has its groups looked at once, and again only when it changes or is asked for", () => {
  const { claims, work, told } = book();
  claims.claim(owner, claim, [], false);
  assert.deepEqual(claims.waitsFor(owner), ["sg-1"]);
  claims.settled("sg-1", claims.waitingFor("sg-1"), true);
  assert.deepEqual([claims.waitsFor(owner), told], [[], ["default/web"]]);
  claims.claim(owner, claim, [], false);
  assert.deepEqual(work, ["sg-1"]);
  claims.claim(owner, { ...claim, nodeGroups: ["sg-2"] }, [], false);
  assert.deepEqual(work, ["sg-1", "sg-2", "sg-1"], "the group it left too");
});

test("what was claimed after the writer began is not settled by it", () => {
  const { claims } = book();
  claims.claim(owner, claim, [], false);
  const waiting = claims.waitingFor("sg-1");
  const late = { ...owner, uid: "v" };
  claims.claim(late, claim, [], false);
  claims.settled("sg-1", waiting, true);
  assert.deepEqual([claims.waitsFor(owner), claims.waitsFor(late)], [[], ["sg-1"]]);
});

test("trouble is told to those who wait, once for each cause", () => {
  const { claims, told } = book();
  claims.claim(owner, claim, [], false);
  claims.failed("sg-1", new Error("denied"));
  claims.failed("sg-1", new Error("denied"));
  assert.deepEqual([told, claims.trouble(claims.waitsFor(owner))], [["default/web"], "denied"]);
});

test("a load balancer takes the place of the Service's former one of the same kind", () => {
  const { claims } = book();
  claims.claim({ ...owner, loadBalancer: "old" }, { ...claim, nodeGroups: ["sg-old"] }, [], false);
  claims.claim(owner, claim, [], false);
  assert.deepEqual(claims.owners().claims, [claim]);
  assert.ok(claims.waitsFor(owner).includes("sg-old"), "where rules of the old one may be");
});

test("an owner nothing is known of is known to exist, and a claim is not forgotten for it", () => {
  const { claims } = book();
  claims.unknown(owner, [owner.loadBalancer]);
  assert.ok(claims.knows("u"));
  claims.claim(owner, claim, [], false);
  claims.unknown(owner, [owner.loadBalancer]);
  assert.deepEqual(claims.owners().claims, [claim]);
});
