import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventRecorder } from "../identity/event-reasons.ts";
import { EventPipeline } from "../kube/event-recorder.ts";
import { scriptedClient, scriptedServer } from "../kube/testing/scripted-server.ts";
import type { HttpRequest } from "../runtime/http.ts";
import { sleep } from "../runtime/world.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { actionMetrics } from "./action-metrics.ts";
import type { NodeState } from "./node-states.ts";
import type { PodView } from "./pods.ts";
import { reporter } from "./report.ts";

const podsOf = (node: string): readonly PodView[] =>
  Array.from({ length: 30 }, (_, at) => ({
    metadata: { name: `${node}-${at}`, namespace: "default", uid: `${node}-${at}`, resourceVersion: "1" },
    ...{ node, created: 0, daemonSet: undefined, mirror: false, finished: false, localData: false, graceSeconds: 30 },
  }));

test("what is said of a Node is neither lost nor late behind the Events of thousands of pods", async () => {
  const world = virtualWorld(1);
  const sent: string[] = [];
  const send = async ({ body }: HttpRequest) => {
    await sleep(world.clock, 5, new AbortController().signal);
    sent.push((JSON.parse(String(body)) as { reason: string }).reason);
    return { status: 201, headers: {}, body: [Buffer.from("{}")] as never };
  };
  const client = scriptedClient(world, { ...scriptedServer(), connect: () => ({ send, close: async () => {} }) });
  const { host } = client;
  const recorder = new EventPipeline(client).recorder("test") as EventRecorder;
  const say = reporter({ host, recorder, metrics: actionMetrics(host.metrics) });
  for (let at = 0; at < 400; at++) say.pods(`n${at}`, podsOf(`n${at}`));
  say.failed({ name: "n0", uid: "n0", resourceVersion: "1" } as NodeState, "its pods may not go");
  await world.advance(1_000);
  assert.ok(sent.includes("CordonAndDrainError"), `after ${sent.length} others it has not been said`);
  assert.ok(sent.includes("PodEviction"));
});
