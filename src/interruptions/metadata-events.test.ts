import assert from "node:assert/strict";
import { test } from "node:test";
import { MetadataUnreadable, metadataReaders } from "./metadata-events.ts";

const now = Date.UTC(2020, 8, 15, 21, 13, 0);

test("a spot notice has the id that the reference gives it", () => {
  const { events } = metadataReaders.spot('{"action":"terminate","time":"2020-09-15T21:15:41Z"}', now, "boot");
  assert.equal(events[0]?.id, "spot-itn-47ddfb5e39791606bec3e91fea4cdfa86f86a60ddaf014c8b4af8e008f134b19");
  assert.equal(events[0]?.deadline, Date.UTC(2020, 8, 15, 21, 15, 41));
  assert.match(events[0]?.description ?? "", /2020-09-15T21:15:41Z/);
});

test("a path that is not there says nothing", () => {
  for (const read of Object.values(metadataReaders)) assert.deepEqual(read(undefined, now, "boot"), { events: [], over: [] });
});

test("maintenance: what is on, what is off again, and what restarts the machine", () => {
  const item = (EventId: string, State: string, Code = "system-reboot") => ({
    NotBefore: "21 Jan 2026 09:00:43 GMT",
    Code,
    Description: "why",
    EventId,
    State,
  });
  const items = [item("a", "active"), item("b", "canceled"), item("c", "completed"), item("d", "active", "system-maintenance")];
  const { events, over } = metadataReaders.maintenance(JSON.stringify(items), now, "boot");
  assert.deepEqual(
    events.map(({ id, restarts, deadline }) => [id, restarts, deadline]),
    [
      ["a", true, Date.UTC(2026, 0, 21, 9, 0, 43)],
      ["d", undefined, Date.UTC(2026, 0, 21, 9, 0, 43)],
    ],
  );
  assert.deepEqual(over, ["b", "c"]);
  assert.deepEqual(metadataReaders.maintenance("null", now, "boot").events, []);
});

test("the target lifecycle state is one event for as long as the machine runs", () => {
  const id = (boot: string, at: number) => metadataReaders.termination("Terminated", at, boot).events[0]?.id;
  assert.equal(id("boot", now), id("boot", now + 2000));
  assert.notEqual(id("boot", now), id("other", now));
  for (const state of ["InService", "", "Terminated:Wait"]) assert.deepEqual(metadataReaders.termination(state, now, "boot").events, []);
});

test("what cannot be read is said in words", () => {
  assert.throws(() => metadataReaders.spot('{"action":"terminate","time":"soon"}', now, "boot"), MetadataUnreadable);
  assert.throws(() => metadataReaders.maintenance("", now, "boot"), MetadataUnreadable);
  assert.throws(() => metadataReaders.rebalance("{}", now, "boot"), MetadataUnreadable);
  for (const body of ["{}", '"x"', "7"]) assert.throws(() => metadataReaders.maintenance(body, now, "boot"), MetadataUnreadable);
  for (const body of ["null", "[]", "not JSON"]) assert.throws(() => metadataReaders.spot(body, now, "boot"), MetadataUnreadable);
});

test("one item of maintenance that cannot be read is said, and hides none of the others", () => {
  const good = { NotBefore: "2 Jan 2026 09:00:43 GMT", Code: "system-reboot", EventId: "good", State: "active" };
  const items = [{ ...good, EventId: "bad", NotBefore: "soon" }, { ...good, EventId: "" }, "nonsense", good];
  const { events, problem } = metadataReaders.maintenance(JSON.stringify(items), now, "boot");
  assert.deepEqual(
    events.map(({ id, deadline }) => [id, deadline]),
    [["good", Date.UTC(2026, 0, 2, 9, 0, 43)]],
  );
  assert.ok(problem instanceof MetadataUnreadable);
  assert.equal(metadataReaders.maintenance(JSON.stringify([good]), now, "boot").problem, undefined);
});

test("an end of maintenance that cannot be read does not matter: the instance goes at its beginning", () => {
  const item = { NotBefore: "21 Jan 2026 09:00:43 GMT", NotAfter: "whenever", Code: "system-reboot", EventId: "a", State: "active" };
  const { events } = metadataReaders.maintenance(JSON.stringify([item]), now, "boot");
  assert.equal(events[0]?.deadline, Date.UTC(2026, 0, 21, 9, 0, 43));
  assert.match(events[0]?.description ?? "", /^system-reboot will occur between 21 Jan 2026 09:00:43 GMT and whenever because /);
});

test("keys in other letter case work", () => {
  assert.equal(metadataReaders.spot('{"Action":"stop","TIME":"2020-09-15T21:15:41Z"}', now, "boot").events.length, 1);
  assert.equal(metadataReaders.rebalance('{"noticetime":"2020-09-15T21:15:41Z"}', now, "boot").events.length, 1);
  const items = '[{"notbefore":"21 Jan 2026 09:00:43 GMT","code":"instance-stop","eventid":"a","state":"active"}]';
  assert.equal(metadataReaders.maintenance(items, now, "boot").events[0]?.restarts, true);
});
