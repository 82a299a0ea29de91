import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event } from "../kube/types.ts";
import { ageText } from "../runtime/age-text.ts";
import { warningsIn } from "./event-history.ts";

const at = (minute: number) => `2026-06-01T12:${String(minute).padStart(2, "0")}:00Z`;
const event = (minute: number, type: string, reason: string, message = ""): Event => ({
  involvedObject: {},
  metadata: {},
  type,
  reason,
  message,
  lastTimestamp: at(minute),
});
const holding = (...events: readonly Event[]) => warningsIn(events).flatMap(({ text, holds }) => (holds ? [text] : []));

test("of a reason only the latest Warning holds", () => {
  const first = event(1, "Warning", "SyncLoadBalancerFailed", "no subnets");
  const second = event(5, "Warning", "SyncLoadBalancerFailed", "no certificate");
  assert.deepEqual(holding(first, second), ["SyncLoadBalancerFailed: no certificate"]);
  assert.deepEqual(
    warningsIn([first, second]).map(({ text }) => text),
    ["SyncLoadBalancerFailed: no certificate", "SyncLoadBalancerFailed: no subnets"],
  );
});

test("a success of the same work ends it, one of other work or from before does not", () => {
  const failed = event(5, "Warning", "SyncLoadBalancerFailed", "no subnets");
  assert.deepEqual(holding(failed, event(6, "Normal", "EnsuredLoadBalancer")), []);
  assert.equal(holding(failed, event(6, "Normal", "UpdatedLoadBalancer")).length, 1);
  assert.equal(holding(failed, event(4, "Normal", "EnsuredLoadBalancer")).length, 1);
});

test("what the page finds out by itself is never taken from an old Event", () => {
  assert.deepEqual(holding(event(5, "Warning", "LoadBalancerWarning", "misspelt")), []);
});

test("ages are told as people tell them", () => {
  const now = Date.parse(at(30));
  assert.deepEqual(
    [now - 5_000, now - 240_000, now - 4 * 3_600_000].map((ms) => ageText(ms, now)),
    ["5 s ago", "4 min ago", "4 h ago"],
  );
});
