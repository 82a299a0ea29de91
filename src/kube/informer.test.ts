import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { nodes } from "./builtin.ts";
import type { Informer, Trimmed } from "./informer.ts";
import { informer } from "./informer.ts";
import { metric, recordingLog, scriptedClient, scriptedServer } from "./testing/scripted-server.ts";
import type { Node } from "./types.ts";
import { watchSource } from "./watch-source.ts";

const nodeOf = (name: string, version: number, changes: { uid?: string; providerID?: string } = {}) => ({
  metadata: { name, uid: changes.uid ?? `uid-${name}`, resourceVersion: String(version) },
  spec: { providerID: changes.providerID ?? `aws:///eu-west-1a/i-${name}` },
});

const bookmark = (version: number, end = false) => ({
  kind: "Node",
  metadata: { resourceVersion: String(version), annotations: end ? { "k8s.io/initial-events-end": "true" } : undefined },
});

const listOf = (version: number, items: object[], next = "") => ({
  kind: "NodeList",
  apiVersion: "v1",
  metadata: { resourceVersion: String(version), continue: next },
  items,
});

/** An informer of Nodes that runs against a scripted server, and what its handlers heard. */
function bed() {
  const world = virtualWorld(7);
  const server = scriptedServer();
  const log = recordingLog();
  const client = scriptedClient(world, server, { log });
  const nodeInformer = informer<Node, "providerID">({
    client,
    of: nodes,
    indexes: { providerID: (node) => (node.spec?.providerID ? [node.spec.providerID] : []) },
  });
  const heard: string[] = [];
  nodeInformer.subscribe((before, after) => heard.push(`${told(before)}→${told(after)}`));
  const stop = new AbortController();
  const ended = nodeInformer.run(stop.signal);
  const counted = (name: string) => metric(client, `fairlead_informer_${name}`);
  return { world, server, client, informer: nodeInformer, heard, log, stop, ended, counted };
}

function told(
  node: { readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string } } | undefined,
): string {
  if (node === undefined) return "";
  return node.metadata.uid === `uid-${node.metadata.name}`
    ? `${node.metadata.name}@${node.metadata.resourceVersion}`
    : `${node.metadata.uid}@${node.metadata.resourceVersion}`;
}

const known = (of: Informer<Trimmed<Node>, "providerID">) => of.list().map(told).sort();

/** A bed whose informer has streamed a, b and c and stands at version 10. */
async function syncedBed() {
  const all = bed();
  await all.world.settle();
  const stream = all.server.take().stream();
  for (const [index, name] of ["a", "b", "c"].entries()) stream.event("ADDED", nodeOf(name, index + 1));
  stream.event("BOOKMARK", bookmark(10, true));
  await all.world.settle();
  all.heard.length = 0;
  return { ...all, stream };
}

test("a list is streamed where the server offers it, and the informer is in sync at its end mark, not before", async () => {
  const { world, server, informer, heard } = bed();
  await world.settle();
  const asked = server.take();
  assert.equal(asked.query.get("sendInitialEvents"), "true");
  assert.equal(asked.query.get("resourceVersionMatch"), "NotOlderThan");
  assert.equal(asked.query.get("allowWatchBookmarks"), "true");
  const seconds = Number(asked.query.get("timeoutSeconds"));
  assert.ok(seconds >= 300 && seconds <= 600, `timeoutSeconds is ${seconds}`);

  const stream = asked.stream();
  stream.event("ADDED", nodeOf("a", 1));
  await world.settle();
  assert.equal(informer.hasSynced, false);
  stream.event("BOOKMARK", bookmark(10, true));
  await informer.synced;
  assert.equal(informer.hasSynced, true);
  assert.deepEqual(heard, ["→a@1"]);
});

test("a server that refuses streamed lists is listed by pages, then watched from the list's version", async () => {
  for (const status of [400, 422]) {
    const { world, server, informer } = bed();
    await world.settle();
    server.take().refuse(status, status === 400 ? "BadRequest" : "Invalid");
    await world.settle();
    const first = server.take();
    assert.equal(first.query.get("limit"), "500");
    first.json(listOf(20, [nodeOf("a", 1)], "more"));
    await world.settle();
    const second = server.take();
    assert.equal(second.query.get("continue"), "more");
    second.json(listOf(20, [nodeOf("b", 2)]));
    await informer.synced;
    assert.deepEqual(known(informer), ["a@1", "b@2"]);
    await world.settle();
    const watch = server.take();
    assert.equal(watch.query.get("watch"), "true");
    assert.equal(watch.query.get("resourceVersion"), "20");
    assert.equal(watch.query.get("sendInitialEvents"), null);
  }
});

test("a streamed list that fails in whatever way is followed by a list by pages, and tried again with the next list", async () => {
  const failures: ((asked: ReturnType<ReturnType<typeof scriptedServer>["take"]>) => void)[] = [
    (asked) => asked.refuse(500, "InternalError", "the required storage feature RequestWatchProgress is disabled"),
    (asked) => asked.refuse(503, "ServiceUnavailable"),
    (asked) => asked.refuse(504, "Timeout"),
    (asked) => asked.stream().event("ERROR", { kind: "Status", code: 500, reason: "InternalError" }),
    (asked) => asked.stream().bytes("no event\n"),
    (asked) => {
      const stream = asked.stream();
      stream.event("ADDED", nodeOf("half", 1));
      stream.cut();
    },
  ];
  for (const fail of failures) {
    const { world, server, informer, heard } = bed();
    await world.settle();
    fail(server.take());
    await world.settle();
    const page = server.take();
    assert.equal(page.query.get("watch"), null);
    page.json(listOf(20, [nodeOf("a", 1)]));
    await informer.synced;
    assert.deepEqual(known(informer), ["a@1"]);
    await world.settle();
    const watch = server.take();
    assert.equal(watch.query.get("resourceVersion"), "20");
    watch.stream().event("ERROR", { kind: "Status", code: 410, reason: "Expired" });
    await world.settle();
    assert.equal(server.take().query.get("sendInitialEvents"), "true");
    assert.ok(!heard.includes("a@1→"));
  }
});

test("a server that ignores the wish for a streamed list is noticed by its bookmarks, its close or its silence", async () => {
  const signs: ((stream: { event(type: string, object: object): void; close(): void }) => void)[] = [
    (stream) => stream.event("BOOKMARK", bookmark(5)),
    (stream) => stream.close(),
    () => {},
  ];
  for (const sign of signs) {
    const { world, server, informer } = bed();
    await world.settle();
    const stream = server.take().stream();
    stream.event("ADDED", nodeOf("a", 1));
    sign(stream);
    await world.runUntil(() => server.waiting.length > 0, 30_000, "a list by pages");
    server.take().json(listOf(6, [nodeOf("a", 1)]));
    await informer.synced;
    assert.deepEqual(known(informer), ["a@1"]);
  }
});

test("a continue token that expires on the way begins the list anew, and what the first try saw is not kept", async () => {
  const { world, server, informer } = bed();
  await world.settle();
  server.take().refuse(422, "Invalid");
  await world.settle();
  server.take().json(listOf(20, [nodeOf("gone", 1)], "more"));
  await world.settle();
  server.take().refuse(410, "Expired");
  await world.settle();
  const again = server.take();
  assert.equal(again.query.get("continue"), null);
  again.json(listOf(30, [nodeOf("a", 2)]));
  await informer.synced;
  assert.deepEqual(known(informer), ["a@2"]);
});

test("an orderly close is taken up at once from the last version seen, whether an event's or a bookmark's", async () => {
  const { world, server, stream } = await syncedBed();
  stream.event("MODIFIED", nodeOf("a", 11));
  await world.settle();
  stream.close();
  await world.settle();
  const resumed = server.take();
  assert.equal(resumed.query.get("resourceVersion"), "11");
  const second = resumed.stream();
  second.event("BOOKMARK", bookmark(99));
  await world.settle();
  second.close();
  await world.settle();
  assert.equal(server.take().query.get("resourceVersion"), "99");
});

test("a cut connection is taken up after a pause, from the last version seen", async () => {
  const { world, server, stream, heard, counted, informer } = await syncedBed();
  stream.event("DELETED", nodeOf("b", 12));
  await world.settle();
  stream.cut();
  await world.settle();
  assert.equal(server.waiting.length, 0);
  assert.ok(informer.staleSinceMs !== undefined);
  await world.advance(1_000);
  const resumed = server.take();
  assert.equal(resumed.query.get("resourceVersion"), "12");
  resumed.stream().event("ADDED", nodeOf("d", 13));
  await world.settle();
  assert.deepEqual(heard, ["b@2→", "→d@13"]);
  assert.equal(await counted("reconnects_total"), 1);
  assert.equal(await counted("relists_total"), 0);
  assert.equal(informer.staleSinceMs, undefined);
});

test("pauses grow while the server is away, stay bounded, and errors never end the loop", async () => {
  const { world, server, stream } = await syncedBed();
  stream.cut();
  let tries = 0;
  for (let second = 0; second < 600; second++) {
    await world.advance(1_000);
    for (; server.waiting.length > 0; tries++) server.take().cut("ECONNREFUSED");
  }
  assert.ok(tries >= 20 && tries <= 45, `${tries} tries in ten minutes`);
  await world.runUntil(() => server.waiting.length > 0, 31_000, "another try");
});

test("a 410 leads to a new list, after which the store equals the server's state and every key's history is whole", async () => {
  const expiries: ((server: Awaited<ReturnType<typeof syncedBed>>) => Promise<void>)[] = [
    async ({ stream, world }) => {
      stream.event("ERROR", { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" });
      await world.settle();
    },
    async ({ stream, server, world }) => {
      stream.cut();
      await world.advance(1_000);
      server.take().refuse(410, "Expired");
      await world.settle();
    },
  ];
  for (const expire of expiries) {
    const all = await syncedBed();
    const { world, server, informer, heard, counted } = all;
    await expire(all);
    await world.advance(5_000);
    const relist = server.take();
    assert.equal(relist.query.get("sendInitialEvents"), "true");
    const stream = relist.stream();
    stream.event("ADDED", nodeOf("a", 1));
    stream.event("ADDED", nodeOf("b", 40, { uid: "another" }));
    stream.event("ADDED", nodeOf("d", 41));
    stream.event("BOOKMARK", bookmark(50, true));
    await world.settle();
    assert.deepEqual(known(informer), ["a@1", "another@40", "d@41"]);
    assert.deepEqual(heard, ["b@2→", "→another@40", "→d@41", "c@3→"]);
    assert.equal(await counted("relists_total"), 1);
  }
});

test("a list that is cut before its end removes nothing, and the next one settles what is gone", async () => {
  const { world, server, stream, informer, heard } = await syncedBed();
  stream.event("ERROR", { kind: "Status", code: 410, reason: "Expired" });
  await world.settle();
  const first = server.take().stream();
  first.event("ADDED", nodeOf("new", 40));
  first.cut();
  await world.settle();
  assert.equal(informer.size, 4);
  server.take().json(listOf(60, [nodeOf("a", 1)]));
  await world.settle();
  assert.deepEqual(known(informer), ["a@1"]);
  assert.deepEqual(heard.sort(), ["b@2→", "c@3→", "new@40→", "→new@40"].sort());
});

test("half a line at the end of a connection is counted and the watch resumed", async () => {
  for (const end of ["close", "cut"] as const) {
    const { world, server, stream, counted } = await syncedBed();
    stream.event("MODIFIED", nodeOf("a", 11));
    stream.bytes('{"type":"MODIFIED","object":{"metadata":{"name":"b"');
    await world.settle();
    stream[end]();
    await world.advance(1_000);
    assert.equal(server.take().query.get("resourceVersion"), "11");
    assert.equal(await counted("malformed_lines_total"), 1);
  }
});

test("a line that is no event is counted, the connection dropped, and the resource listed anew", async () => {
  const { world, server, stream, counted, log } = await syncedBed();
  stream.bytes('{"type":"MODIFIED","object":{"hunter2"\n');
  await world.settle();
  assert.equal(stream.abandoned, true);
  assert.equal(server.take().query.get("sendInitialEvents"), "true");
  assert.equal(await counted("malformed_lines_total"), 1);
  assert.ok(!log.lines.join().includes("hunter2"));
});

test("lines cut anywhere by the network, even inside a character, are put together", async () => {
  const { world, stream, informer } = await syncedBed();
  const line = Buffer.from(`${JSON.stringify({ type: "ADDED", object: nodeOf("zürich", 11) })}\n`);
  for (const byte of line) stream.bytes(Buffer.from([byte]));
  await world.settle();
  assert.equal(informer.get("zürich")?.metadata.resourceVersion, "11");
});

test("a connection that goes silent for 90 s is counted as stalled and resumed; one that speaks is left alone", async () => {
  const { world, server, stream, counted } = await syncedBed();
  for (let minute = 0; minute < 4; minute++) {
    await world.advance(60_000);
    stream.event("BOOKMARK", bookmark(20 + minute));
    await world.settle();
  }
  assert.equal(server.waiting.length, 0);
  await world.advance(90_000);
  assert.equal(stream.abandoned, true);
  assert.equal(server.take().query.get("resourceVersion"), "23");
  assert.equal(await counted("stalls_total"), 1);
});

test("a server that closes every watch as soon as it is opened is not asked in a hot loop", async () => {
  const { world, server, stream } = await syncedBed();
  stream.close();
  let tries = 0;
  await world.settle();
  const until = world.clock.monotonic() + 60_000;
  while (world.clock.monotonic() < until) {
    for (; server.waiting.length > 0; tries++) server.take().stream().close();
    await world.advance(100);
  }
  assert.ok(tries > 2 && tries < 20, `${tries} tries in a minute`);
});

test("a server that answers every watch after a list with 410 is not listed in a hot loop", async () => {
  const { world, server, stream } = await syncedBed();
  stream.close();
  let lists = 0;
  const until = world.clock.monotonic() + 60_000;
  while (world.clock.monotonic() < until) {
    await world.advance(100);
    while (server.waiting.length > 0) {
      const asked = server.take();
      const next = asked.stream();
      if (asked.query.get("sendInitialEvents")) {
        lists++;
        next.event("BOOKMARK", bookmark(20, true));
      }
      next.event("ERROR", { kind: "Status", code: 410, reason: "Expired" });
    }
  }
  assert.ok(lists > 2 && lists < 20, `${lists} lists in a minute`);
});

test("a server that answers 410 after every event is not listed in a hot loop, whether the watch ends with it or the next begins with it", async () => {
  for (const atOnce of [true, false]) {
    const { world, server, stream } = await syncedBed();
    stream.close();
    let lists = 0;
    let version = 20;
    const gone = { kind: "Status", code: 410, reason: "Expired" };
    const until = world.clock.monotonic() + 60_000;
    while (world.clock.monotonic() < until) {
      await world.advance(10);
      while (server.waiting.length > 0) {
        const asked = server.take();
        const next = asked.stream();
        if (asked.query.get("sendInitialEvents")) {
          lists++;
          next.event("BOOKMARK", bookmark(++version, true));
          next.event("ADDED", nodeOf("a", ++version));
          if (atOnce) next.event("ERROR", gone);
          else next.close();
        } else next.event("ERROR", gone);
      }
    }
    assert.ok(lists > 2 && lists < 20, `${lists} lists in a minute`);
  }
});

test("missing permission is said in so many words and tried again", async () => {
  const { world, server, informer, log } = bed();
  await world.settle();
  server.take().refuse(403, "Forbidden", 'nodes is forbidden: User "ccm" cannot list resource "nodes"');
  await world.settle();
  assert.match(log.lines.join("\n"), /User "ccm" cannot list.*grant this identity get, list and watch on nodes/);
  await world.advance(1_000);
  const stream = server.take().stream();
  stream.event("BOOKMARK", bookmark(1, true));
  await informer.synced;
});

test("a version the server does not know (it was restored from a backup) ends in a new list", async () => {
  const { world, server, stream } = await syncedBed();
  stream.cut();
  for (let refusals = 0; refusals < 8; refusals++) {
    await world.runUntil(() => server.waiting.length > 0, 60_000, "another try");
    const asked = server.take();
    if (asked.query.get("sendInitialEvents")) return;
    asked.refuse(504, "Timeout", "Too large resource version");
  }
  assert.fail("never listed anew");
});

test("ten restarts of the server leave one connection and no timer behind", async () => {
  const { world, server, stream, stop, ended } = await syncedBed();
  let current = stream;
  for (let restart = 0; restart < 10; restart++) {
    current.cut();
    await world.advance(1_100);
    current = server.take().stream();
    current.event("BOOKMARK", bookmark(100 + restart));
    await world.settle();
  }
  assert.equal(server.openStreams, 1);
  stop.abort();
  await ended;
  assert.equal(server.openStreams, 0);
  const before = world.clock.monotonic();
  await assert.rejects(world.runUntil(() => false, 3_600_000));
  assert.equal(world.clock.monotonic(), before, "a timer was left behind");
  assert.equal(server.waiting.length, 0);
});

test("indexes follow every change, and handlers find the store already changed", async () => {
  const { world, stream, informer } = await syncedBed();
  const seen: number[] = [];
  informer.subscribe({ onUpdate: (_before, after) => seen.push(informer.by("providerID", after.spec?.providerID ?? "").length) });
  assert.deepEqual(informer.by("providerID", "aws:///eu-west-1a/i-a").map(told), ["a@1"]);
  stream.event("MODIFIED", nodeOf("a", 11, { providerID: "moved" }));
  stream.event("MODIFIED", nodeOf("b", 12, { providerID: "moved" }));
  await world.settle();
  assert.deepEqual(informer.by("providerID", "aws:///eu-west-1a/i-a"), []);
  assert.deepEqual(informer.by("providerID", "moved").map(told), ["a@11", "b@12"]);
  assert.deepEqual(seen, [1, 2]);
  stream.event("DELETED", nodeOf("a", 13));
  await world.settle();
  assert.deepEqual(informer.by("providerID", "moved").map(told), ["b@12"]);
});

test("handlers are told in the order they came; one that throws harms nobody; one that left is told no more", async () => {
  const { world, stream, informer, counted } = await syncedBed();
  const order: string[] = [];
  informer.subscribe({
    onUpdate() {
      order.push("first");
      throw new Error("bug");
    },
  });
  const leave = informer.subscribe({ onUpdate: () => order.push("second"), onDelete: (last) => order.push(`deleted ${told(last)}`) });
  stream.event("MODIFIED", nodeOf("a", 11));
  stream.event("DELETED", nodeOf("a", 12));
  await world.settle();
  assert.deepEqual(order, ["first", "second", "deleted a@11"]);
  assert.equal(await counted("handler_failures_total"), 1);
  leave();
  stream.event("MODIFIED", nodeOf("b", 13));
  await world.settle();
  assert.equal(order.length, 4);
});

test("who comes late is told of everything known, as additions", async () => {
  const { informer } = await syncedBed();
  const added: string[] = [];
  informer.subscribe({ onAdd: (node) => added.push(told(node)) });
  assert.deepEqual(added, ["a@1", "b@2", "c@3"]);
});

test("objects are kept without managedFields and kubectl's copy, and cannot be changed", async () => {
  const { world, stream, informer } = await syncedBed();
  stream.event("MODIFIED", {
    metadata: {
      name: "a",
      uid: "uid-a",
      resourceVersion: "11",
      managedFields: [{ manager: "kubelet" }],
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", kept: "yes" },
    },
    spec: { taints: [{ key: "k", effect: "NoSchedule" }] },
  });
  await world.settle();
  const node = informer.get("a");
  assert.equal("managedFields" in (node?.metadata ?? {}), false);
  assert.deepEqual(node?.metadata.annotations, { kept: "yes" });
  assert.throws(() => Object.assign(node?.spec?.taints?.[0] ?? {}, { key: "other" }), TypeError);
});

test("a watch source tells a controller the keys of what exists, then of every change, until it is stopped", async () => {
  const { world, stream, informer } = await syncedBed();
  const source = watchSource(informer, (before, after) => [`${(after ?? before)?.metadata.name}`]);
  const keys: string[] = [];
  const stop = new AbortController();
  await source.start((key) => keys.push(key), stop.signal);
  assert.deepEqual(keys, ["a", "b", "c"]);
  stream.event("DELETED", nodeOf("b", 11));
  await world.settle();
  stop.abort();
  stream.event("DELETED", nodeOf("c", 12));
  await world.settle();
  assert.deepEqual(keys, ["a", "b", "c", "b"]);
});
