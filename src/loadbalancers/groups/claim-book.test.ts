import assert from "node:assert/strict";
import { test } from "node:test";
import { classic } from "../classic/kind.ts";
import { network } from "../network/kind.ts";
import { type Claimant, ClaimBook } from "./claim-book.ts";
import type { Claim } from "./node-rules.ts";

const owner: Claimant & { kinds: readonly Claimant["kind"][] } = {
  door: "service",
  key: "default/web",
  uid: "u",
  kind: network,
  kinds: [classic, network],
};
const usual = { groups: [], recheck: false };
const claim: Claim = { nodeGroups: ["sg-1"], rules: [], marks: { descriptions: ["d"], sources: [] }, former: [] };

function book() {
  const claims = new ClaimBook();
  const work: string[] = [];
  const told: string[] = [];
  claims.onWork((group) => work.push(group));
  claims.onSettled("service", (key) => told.push(key));
  return { claims, work, told };
}

test("a claim has its groups looked at once, and again only when it changes or is asked for", () => {
  const { claims, work, told } = book();
  claims.claim(owner, claim, usual);
  assert.deepEqual(claims.waitsFor("u"), ["sg-1"]);
  claims.settled("sg-1", claims.waitingFor("sg-1"), true);
  assert.deepEqual([claims.waitsFor("u"), told], [[], ["default/web"]]);
  claims.claim(owner, claim, usual);
  assert.deepEqual(work, ["sg-1"]);
  claims.claim(owner, { ...claim, nodeGroups: ["sg-2"] }, usual);
  assert.deepEqual(work, ["sg-1", "sg-2", "sg-1"], "the group it left too");
});

test("what was claimed after the writer began is not settled by it", () => {
  const { claims } = book();
  claims.claim(owner, claim, usual);
  const waiting = claims.waitingFor("sg-1");
  const late = { ...owner, uid: "v" };
  claims.claim(late, claim, usual);
  claims.settled("sg-1", waiting, true);
  assert.deepEqual([claims.waitsFor("u"), claims.waitsFor("v")], [[], ["sg-1"]]);
});

test("a claim that changes after the writer began is not settled by it", () => {
  const { claims, told } = book();
  claims.claim(owner, claim, usual);
  const waiting = claims.waitingFor("sg-1");
  claims.claim(owner, { ...claim, former: ["more"] }, usual);
  claims.settled("sg-1", waiting, true);
  assert.deepEqual([claims.waitsFor("u"), told], [["sg-1"], []]);
});

test("trouble is told to those who wait, once for each cause", () => {
  const { claims, told } = book();
  claims.claim(owner, claim, usual);
  claims.failed("sg-1", [...claims.waitingFor("sg-1").keys()], new Error("denied"));
  claims.failed("sg-1", [...claims.waitingFor("sg-1").keys()], new Error("denied"));
  assert.deepEqual([told, claims.trouble("u")], [["default/web"], "denied"]);
});

test("trouble of one owner is not told to others, and is over when it asks for something else", () => {
  const { claims, told } = book();
  const other = { ...owner, key: "default/other", uid: "v" };
  claims.claim(owner, claim, usual);
  claims.claim(other, claim, usual);
  claims.failed("sg-1", ["u network"], new Error("no room"));
  assert.deepEqual([told, claims.trouble("u"), claims.trouble("v")], [["default/web"], "no room", undefined]);
  claims.claim(owner, { ...claim, former: ["less"] }, usual);
  assert.equal(claims.trouble("u"), undefined);
});

test("an owner nothing is known of is known to exist, and a claim is not forgotten for it", () => {
  const { claims } = book();
  claims.unknown(owner, ["a"]);
  assert.ok(claims.knows("u"));
  claims.claim(owner, claim, usual);
  claims.unknown(owner, ["a"]);
  assert.deepEqual([[...claims.owners().claims.values()], claims.owners().unknown], [[claim], []]);
});

test("whatever a Service was when nothing was known of it, its claim or its leaving is the end of that", () => {
  for (const kind of [classic, network]) {
    const { claims } = book();
    claims.unknown(owner, ["a", "shop"]);
    assert.deepEqual(
      claims.owners().unknown.map(({ kind }) => kind.name),
      ["classic", "network"],
    );
    claims.claim({ ...owner, kind }, claim, usual);
    assert.deepEqual(claims.owners().unknown, []);
  }
  const { claims } = book();
  claims.unknown(owner, ["a"]);
  for (const kind of [classic, network]) claims.leave({ ...owner, kind }, claim.marks, []);
  assert.deepEqual(claims.owners().unknown, []);
});

test("what a load balancer that still stands beside the claimed one uses is held until it leaves", () => {
  const { claims } = book();
  const old = { ...owner, kind: classic };
  claims.claim(owner, claim, { ...usual, other: { kind: classic, name: "old" } });
  assert.deepEqual(claims.owners().unknown, [{ kind: classic, names: ["old"] }]);
  claims.leave(old, claim.marks, []);
  claims.claim(owner, claim, { ...usual, other: { kind: classic, name: "old" } });
  assert.deepEqual([claims.owners().unknown, claims.owners().leaving.length], [[], 1]);
  claims.forget(old);
  assert.ok(claims.knows("u"));
});

test("a claim takes the place of the Service's former one, and is waited for where that one had rules", () => {
  const { claims } = book();
  claims.claim(owner, { ...claim, nodeGroups: ["sg-old"] }, usual);
  claims.claim(owner, claim, usual);
  assert.deepEqual([...claims.owners().claims.values()], [claim]);
  assert.ok(claims.waitsFor("u").includes("sg-old"));
});

test("who leaves waits for the groups it claimed until a look that began afterwards, and what kept them from the claim is over", () => {
  const { claims, work } = book();
  claims.claim(owner, claim, usual);
  claims.failed("sg-1", ["u network"], new Error("no room"));
  const begun = claims.waitingFor("sg-1");
  claims.leave(owner, claim.marks, []);
  claims.settled("sg-1", begun, true);
  assert.deepEqual([claims.waitsFor("u"), claims.trouble("u"), work], [["sg-1"], undefined, ["sg-1", "sg-1"]]);
  claims.settled("sg-1", claims.waitingFor("sg-1"), false);
  claims.leave(owner, claim.marks, []);
  assert.deepEqual([claims.waitsFor("u"), work.length], [[], 2], "once is enough");
});

test("nothing is complete before every door has spoken, and before there is one", () => {
  const { claims } = book();
  assert.equal(claims.isComplete, false);
  let spoken = false;
  claims.join({ name: "service", hasSpoken: () => true });
  claims.join({ name: "ingress", hasSpoken: () => spoken });
  assert.equal(claims.isComplete, false);
  spoken = true;
  assert.equal(claims.isComplete, true);
});

test("what is settled is told to the door its owner came in by, and to no other", () => {
  const { claims, told } = book();
  const others: string[] = [];
  claims.onSettled("ingress", (key) => others.push(key));
  claims.claim({ ...owner, door: "ingress" }, claim, usual);
  claims.settled("sg-1", claims.waitingFor("sg-1"), true);
  assert.deepEqual([told, others], [[], ["default/web"]]);
});

const rule = (cidr: string) => ({ protocol: "tcp" as const, fromPort: 80, toPort: 80, cidr, description: "d" });
const claimOf = (...cidrs: readonly string[]): Claim => ({ ...claim, rules: cidrs.map(rule) });
const claimed = (claims: ClaimBook) =>
  claims
    .owners()
    .claims.get("u network")
    ?.rules.map((each) => "cidr" in each && each.cidr);

test("what a change will need is granted with what was claimed before when the change stops half-way, until a claim takes the place of both", () => {
  const { claims, work } = book();
  claims.claim(owner, claimOf("10.0.0.0/8"), usual);
  claims.expect(owner, claimOf("10.1.0.0/16"));
  assert.deepEqual([claimed(claims), claims.owners().upcoming], [["10.0.0.0/8"], [claimOf("10.1.0.0/16")]]);
  assert.deepEqual(work, ["sg-1"], "nothing is to be done for it yet");
  claims.stopped(owner);
  assert.deepEqual(
    [claimed(claims)?.toSorted(), work],
    [
      ["10.0.0.0/8", "10.1.0.0/16"],
      ["sg-1", "sg-1"],
    ],
  );
  claims.expect(owner, claimOf("10.1.0.0/16"));
  claims.stopped(owner);
  assert.equal(work.length, 2, "the same again is no news");
  claims.expect(owner, claimOf("10.2.0.0/16"));
  claims.stopped(owner);
  assert.deepEqual(claimed(claims)?.toSorted(), ["10.0.0.0/8", "10.1.0.0/16", "10.2.0.0/16"]);
  claims.claim(owner, claimOf("10.0.0.0/8"), usual);
  assert.deepEqual([claimed(claims), claims.owners().upcoming], [["10.0.0.0/8"], []]);
  assert.equal(work.length, 4, "what was granted meanwhile has to go");
});

test("who leaves expects nothing any more", () => {
  const { claims } = book();
  claims.expect(owner, claimOf("10.1.0.0/16"));
  claims.leave(owner, claim.marks, []);
  assert.deepEqual(claims.owners().upcoming, []);
  assert.deepEqual(claims.waitsFor("u"), ["sg-1"]);
});
