import assert from "node:assert/strict";
import { test } from "node:test";
import type { InterruptionEvent } from "./event.ts";
import { Inbox } from "./inbox.ts";

const event: InterruptionEvent = { id: "e", kind: "spot", monitor: "SQS_MONITOR", instanceId: "i-1", description: "", startTime: 0 };

test("an event that two messages tell of ends both, and one that comes again only once", () => {
  const inbox = new Inbox();
  const ended: string[] = [];
  for (const message of ["first", "second", "first"]) inbox.take("node", event, message, (reached) => ended.push(`${message} ${reached}`));
  assert.equal(inbox.eventsOf("node").length, 1);
  inbox.acknowledge(["e"], "ended");
  assert.deepEqual(ended, ["first ended", "second ended"]);
  assert.deepEqual([inbox.size, inbox.eventsOf("node")], [0, []]);
});

test("whoever asks for news is told of what is there, and then of what comes", () => {
  const inbox = new Inbox();
  inbox.take("a", event, "m", () => {});
  const keys: string[] = [];
  inbox.onNews((key) => keys.push(key));
  inbox.callOff("b", ["x"]);
  inbox.callOff("b", ["x"]);
  assert.deepEqual(keys, ["a", "b"]);
});
