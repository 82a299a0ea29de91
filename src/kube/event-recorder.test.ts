import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { nodes } from "./builtin.ts";
import { EventPipeline, objectRef } from "./event-recorder.ts";
import { metric, scriptedClient, scriptedServer } from "./testing/scripted-server.ts";
import type { Event } from "./types.ts";

const node = objectRef(nodes, { metadata: { name: "ip-10-0-0-1", uid: "u" } });

function bed() {
  const world = virtualWorld(5);
  const server = scriptedServer();
  const client = scriptedClient(world, server);
  const pipeline = new EventPipeline(client);
  const sent: { readonly method: string; readonly path: string; readonly event: Event }[] = [];
  /** Lets everything through that waits. */
  const accept = async () => {
    await world.settle();
    while (server.waiting.length > 0) {
      const asked = server.take();
      sent.push({ method: asked.request.method, path: asked.request.url.pathname, event: asked.sent as Event });
      asked.json({});
      await world.settle();
    }
  };
  return { world, server, client, pipeline, recorder: pipeline.recorder("node-controller"), sent, accept };
}

test("an event about a Node is created in namespace default, with a name made of the object's", async () => {
  const { recorder, sent, accept } = bed();
  recorder.record(node, "Normal", "Initialized", "hello");
  await accept();
  const [{ path, event }] = sent as [(typeof sent)[0]];
  assert.equal(path, "/api/v1/namespaces/default/events");
  assert.match(event.metadata.name ?? "", /^ip-10-0-0-1\.[0-9a-f]{16}$/);
  assert.deepEqual(event.involvedObject, { apiVersion: "v1", kind: "Node", name: "ip-10-0-0-1", uid: "u" });
  assert.deepEqual([event.count, event.type, event.reason, event.message], [1, "Normal", "Initialized", "hello"]);
  assert.deepEqual(event.source, { component: "node-controller" });
  assert.equal(event.firstTimestamp, "2026-01-01T00:00:00Z");
});

test("annotations and the host of the source are on every Event of a recorder that has them, and on no other's", async () => {
  const { pipeline, recorder, sent, accept } = bed();
  const annotated = pipeline.recorder("handler", { host: "ip-10-0-0-9" }).annotated({ "instance-id": "i-1", team: "a" });
  annotated.annotated({ team: "b" }).record(node, "Normal", "Cordon", "one");
  annotated.record(node, "Normal", "Cordon", "two");
  recorder.record(node, "Normal", "Initialized", "three");
  await accept();
  assert.deepEqual(
    sent.map(({ event: { metadata, source } }) => [metadata.annotations, source]),
    [
      [
        { "instance-id": "i-1", team: "b" },
        { component: "handler", host: "ip-10-0-0-9" },
      ],
      [
        { "instance-id": "i-1", team: "a" },
        { component: "handler", host: "ip-10-0-0-9" },
      ],
      [undefined, { component: "node-controller" }],
    ],
  );
});

test("a secret in a message does not get into an Event", async () => {
  const { recorder, sent, accept } = bed();
  recorder.record(node, "Warning", "Failed", "AWS said: {'X-Amz-Security-Token': b'PLANTED'}");
  await accept();
  assert.equal(sent[0]?.event.message, "AWS said: {'X-Amz-Security-Token': b'[redacted]'}");
});

test("the same event again is counted up on the first one, and said anew when that is gone", async () => {
  const { world, server, recorder, sent, accept } = bed();
  recorder.record(node, "Warning", "Failed", "no");
  recorder.record(node, "Warning", "Failed", "no");
  await accept();
  assert.equal(sent[1]?.method, "PATCH");
  assert.equal(sent[1]?.path, `/api/v1/namespaces/default/events/${sent[0]?.event.metadata.name}`);
  assert.equal(sent[1]?.event.count, 2);
  recorder.record(node, "Warning", "Failed", "no");
  await world.settle();
  server.take().refuse(404, "NotFound");
  await accept();
  assert.equal(sent[2]?.method, "POST");
  assert.equal(sent[2]?.event.count, 3);
});

test("what differs in its request id alone is counted, and shows the latest", async () => {
  const { recorder, sent, accept } = bed();
  for (let id = 1; id <= 15; id++) recorder.record(node, "Warning", "Failed", `denied [request id ${id}]`, "denied");
  await accept();
  assert.equal(sent.filter(({ method }) => method === "POST").length, 1);
  assert.deepEqual([sent.at(-1)?.event.count, sent.at(-1)?.event.message], [15, "denied [request id 15]"]);
});

test("more than ten similar events within ten minutes are combined, and told apart again afterwards", async () => {
  const { world, recorder, sent, accept } = bed();
  for (let index = 1; index <= 12; index++) recorder.record(node, "Warning", "Failed", `reason ${index}`);
  await accept();
  assert.equal(sent.filter(({ method }) => method === "POST").length, 11);
  assert.equal(sent[9]?.event.message, "reason 10");
  assert.equal(sent[10]?.event.message, "(combined from similar events): reason 11");
  assert.deepEqual([sent[11]?.method, sent[11]?.event.count], ["PATCH", 2]);
  assert.equal(sent[11]?.event.message, "(combined from similar events): reason 12");
  await world.advance(600_001);
  recorder.record(node, "Warning", "Failed", "reason 13");
  await accept();
  assert.equal(sent[12]?.event.message, "reason 13");
});

test("one object gets 25 events at once and one more every five minutes, whatever another object gets", async () => {
  const { world, client, recorder, sent, accept } = bed();
  for (let index = 0; index < 40; index++) recorder.record(node, "Normal", `Reason${index}`, "m");
  recorder.record({ ...node, name: "other" }, "Normal", "Reason", "m");
  await accept();
  assert.equal(sent.length, 26);
  assert.equal(await metric(client, "fairlead_events_dropped_total"), 15);
  await world.advance(300_000);
  for (let index = 0; index < 2; index++) recorder.record(node, "Normal", `Later${index}`, "m");
  await accept();
  assert.equal(sent.length, 27);
});

test("recording never throws and never waits; what does not fit is dropped and counted", async () => {
  const { server, client, recorder, sent, accept } = bed();
  for (let index = 0; index < 10_200; index++) recorder.record({ ...node, name: `n${index}` }, "Normal", "R", "x".repeat(5_000));
  assert.equal(server.requests.length, 0);
  assert.equal(await metric(client, "fairlead_events_dropped_total"), 200);
  await accept();
  assert.equal(sent[0]?.event.message?.length, 1_024);
});

test("an unreachable server is tried again; a refusal is not", async () => {
  const { world, server, client, recorder } = bed();
  recorder.record(node, "Normal", "R", "m");
  await world.settle();
  server.take().cut();
  await world.advance(1_500);
  server.take().refuse(403, "Forbidden");
  await world.advance(60_000);
  assert.equal(server.waiting.length, 0);
  assert.equal(await metric(client, "fairlead_events_dropped_total"), 1);
});

test("flush waits until all is sent, and gives up the rest when its time is over", async () => {
  const { world, server, pipeline, recorder, accept } = bed();
  recorder.record(node, "Normal", "R", "m");
  let flushed = false;
  const first = pipeline.flush(new AbortController().signal).then(() => {
    flushed = true;
  });
  await world.settle();
  assert.equal(flushed, false);
  await accept();
  await first;

  recorder.record(node, "Normal", "R2", "m");
  recorder.record(node, "Normal", "R3", "m");
  await world.settle();
  const late = new AbortController();
  const second = pipeline.flush(late.signal);
  late.abort();
  await second;
  assert.equal(server.requests.length, 2);
});
