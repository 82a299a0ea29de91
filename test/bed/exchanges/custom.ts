/** Exchanges about custom resources. */
import { type Exchange, type Fields, type Talk, versionOf } from "./talk.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const schema: Fields = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer", default: 3, minimum: 1, maximum: 10 },
        mode: { type: "string", enum: ["fast", "safe"] },
        replicas: { type: "integer" },
        pattern: { type: "string", pattern: "^[a-z]+$", minLength: 2 },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        list: {
          type: "array",
          items: { type: "object", properties: { name: { type: "string" }, on: { type: "boolean", default: true } } },
        },
        tags: { type: "object", additionalProperties: { type: "string" } },
      },
    },
    status: { type: "object", properties: { replicas: { type: "integer" }, note: { type: "string" } } },
  },
};

/** Makes a kind of this exchange's own, and returns where its objects are. */
async function define(talk: Talk, more: Fields = {}): Promise<{ path: string; version: string; kind: string; definition: string }> {
  const stem = talk.namespace.replaceAll("-", "");
  const [plural, group, kind] = [`${stem}s`, "exchange.example", stem[0]!.toUpperCase() + stem.slice(1)];
  await talk.post(definitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind, shortNames: [`${stem}x`] },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more }],
    },
  });
  // The real API establishes a definition a moment after it answers.
  talk.transcript.at(-1)!.answer = null;
  const definition = `${definitions}/${plural}.${group}`;
  const path = talk.in(plural, `${group}/v1`);
  await talk.until(
    definition,
    ({ body }) =>
      JSON.stringify(body.status).includes('"Established","status":"True"') ||
      JSON.stringify(body.status).includes('"status":"True","type":"Established"'),
  );
  await talk.until(path, ({ status }) => status === 200);
  return { path, version: `${group}/v1`, kind, definition };
}

const withStatus = { subresources: { status: {} } };

export const customExchanges: readonly Exchange[] = [
  {
    name: "a definition is completed and established",
    async run(talk) {
      const { definition } = await define(talk, withStatus);
      await talk.get(definition);
    },
  },
  {
    name: "custom: defaults are filled in, unknown fields dropped",
    async run(talk) {
      const { path, version, kind } = await define(talk);
      await talk.post(path, {
        apiVersion: version,
        kind,
        metadata: { name: "a" },
        bogus: 1,
        spec: { unknown: true, free: { any: { thing: 1 } }, list: [{ name: "x", extra: 1 }], tags: { k: "v" } },
      });
    },
  },
  {
    name: "custom: the schema is checked",
    async run(talk) {
      const { path, version, kind } = await define(talk);
      const make = (spec: Fields) => talk.post(path, { apiVersion: version, kind, metadata: { name: "a" }, spec }, 422);
      await make({ size: "x" });
      await make({ size: 0 });
      await make({ size: 11 });
      await make({ mode: "odd" });
      await make({ pattern: "UPPER" });
      await make({ tags: { k: 1 } });
      await make({ list: [{ name: 1 }] });
      await talk.post(path, { apiVersion: version, kind, metadata: { name: "a" } }, 422);
    },
  },
  {
    name: "custom: kind and version must be said, and be right",
    async run(talk) {
      const { path, version, kind } = await define(talk);
      await talk.post(path, { metadata: { name: "a" } }, 400);
      await talk.post(path, { apiVersion: version, kind: "Other", metadata: { name: "a" }, spec: {} }, 422);
      await talk.post(path, { apiVersion: "exchange.example/v9", kind, metadata: { name: "a" }, spec: {} }, 400);
    },
  },
  {
    name: "custom: generation counts changes of the spec alone",
    async run(talk) {
      const { path, version, kind } = await define(talk, withStatus);
      await talk.post(path, { apiVersion: version, kind, metadata: { name: "a" }, spec: { size: 4 }, status: { note: "ignored" } });
      await talk.patch("merge", `${path}/a`, { spec: { size: 5 } });
      await talk.patch("merge", `${path}/a`, { metadata: { labels: { l: "1" } } });
      await talk.patch("merge", `${path}/a/status`, { status: { note: "seen" } });
    },
  },
  {
    name: "custom: status writes touch nothing else, not even metadata",
    async run(talk) {
      const { path, version, kind } = await define(talk, withStatus);
      await talk.post(path, { apiVersion: version, kind, metadata: { name: "a" }, spec: { size: 4 } });
      await talk.patch("merge", `${path}/a/status`, { metadata: { labels: { no: "1" } }, spec: { size: 9 }, status: { note: "yes" } });
      await talk.patch("merge", `${path}/a`, { spec: { size: 6 }, status: { note: "no" } });
    },
  },
  {
    name: "custom: without the status subresource, status is a field like others",
    async run(talk) {
      const { path, version, kind } = await define(talk);
      await talk.post(path, { apiVersion: version, kind, metadata: { name: "a" }, spec: {}, status: { note: "kept" } });
      await talk.patch("merge", `${path}/a`, { status: { note: "changed" } });
      await talk.get(`${path}/a/status`, 404);
    },
  },
  {
    name: "custom: scale reads and writes the replicas",
    async run(talk) {
      const { path, version, kind } = await define(talk, {
        subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
      });
      await talk.post(path, { apiVersion: version, kind, metadata: { name: "a" }, spec: { replicas: 2 } });
      await talk.get(`${path}/a/scale`);
      await talk.patch("merge", `${path}/a/scale`, { spec: { replicas: 7 } });
      await talk.get(`${path}/a`);
    },
  },
  {
    name: "custom: no strategic merge patch",
    async run(talk) {
      const { path, version, kind } = await define(talk);
      await talk.post(path, { apiVersion: version, kind, metadata: { name: "a" }, spec: {} });
      await talk.patch("strategic", `${path}/a`, { spec: { size: 5 } }, 415);
    },
  },
  {
    name: "custom: a replace needs the version it replaces",
    async run(talk) {
      const { path, version, kind } = await define(talk);
      const created = await talk.post(path, { apiVersion: version, kind, metadata: { name: "a" }, spec: {} });
      await talk.put(`${path}/a`, { apiVersion: version, kind, metadata: { name: "a" }, spec: { size: 5 } }, 422);
      await talk.put(`${path}/a`, {
        apiVersion: version,
        kind,
        metadata: { name: "a", resourceVersion: versionOf(created) },
        spec: { size: 5 },
      });
      await talk.put(
        `${path}/a`,
        { apiVersion: version, kind, metadata: { name: "a", resourceVersion: versionOf(created) }, spec: { size: 6 } },
        409,
      );
    },
  },
  {
    name: "custom: finalizers and deletion",
    async run(talk) {
      const { path, version, kind } = await define(talk, withStatus);
      await talk.post(path, { apiVersion: version, kind, metadata: { name: "a", finalizers: ["e.com/1"] }, spec: {} });
      await talk.delete(`${path}/a`);
      await talk.patch("merge", `${path}/a`, { metadata: { finalizers: null } });
      await talk.get(`${path}/a`, 404);
      await talk.post(path, { apiVersion: version, kind, metadata: { name: "b" }, spec: {} });
      await talk.delete(`${path}/b`);
    },
  },
  {
    name: "custom: lists, selectors and watches",
    async run(talk) {
      const { path, version, kind } = await define(talk);
      await talk.post(path, { apiVersion: version, kind, metadata: { name: "a", labels: { x: "1" } }, spec: {} });
      await talk.post(path, { apiVersion: version, kind, metadata: { name: "b" }, spec: {} });
      await talk.get(`${path}?labelSelector=x%3D1`);
      await talk.get(`${path}?fieldSelector=metadata.name%3Db`);
      await talk.get(`${path}?fieldSelector=spec.size%3D3`, 400);
      const watching = await talk.watch(
        `${path}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=30`,
      );
      await watching.read(3);
      watching.close();
    },
  },
  {
    name: "custom: a watch from before the definition is told 410",
    async run(talk) {
      await talk.compact();
      const { path } = await define(talk);
      const watching = await talk.watch(`${path}?watch=1&resourceVersion=1&timeoutSeconds=10`);
      await watching.drain();
    },
  },
  {
    name: "custom: tables show the columns of the definition",
    async run(talk) {
      const { path, version, kind } = await define(talk, {
        additionalPrinterColumns: [
          { name: "Size", type: "integer", jsonPath: ".spec.size" },
          { name: "Mode", type: "string", jsonPath: ".spec.mode", priority: 1 },
          { name: "On", type: "boolean", jsonPath: '.spec.list[?(@.name=="b")].on' },
          { name: "First", type: "string", jsonPath: ".spec.list[0].name" },
          { name: "Any", type: "string", jsonPath: ".spec.list[*].name" },
          { name: "Tag", type: "string", jsonPath: ".spec.tags.example\\.com/tag" },
        ],
      });
      const list: Fields[] = [{ name: "a" }, { name: "b", on: false }];
      await talk.post(path, {
        apiVersion: version,
        kind,
        metadata: { name: "a" },
        spec: { size: 4, list, tags: { "example.com/tag": "t" } },
      });
      await talk.post(path, { apiVersion: version, kind, metadata: { name: "empty" }, spec: {} });
      await talk.table(path);
      await talk.table(`${path}/a`);
    },
  },
  {
    name: "custom: server-side apply owns fields, and conflicts",
    async run(talk) {
      const { path, version, kind } = await define(talk);
      const wanted = (spec: Fields): Fields => ({ apiVersion: version, kind, metadata: { name: "a" }, spec });
      await talk.patch("apply", `${path}/a?fieldManager=one`, wanted({ size: 4, mode: "fast" }), 201);
      await talk.patch("apply", `${path}/a?fieldManager=two`, wanted({ size: 5 }), 409);
      await talk.patch("apply", `${path}/a?fieldManager=two&force=true`, wanted({ size: 5 }));
      await talk.patch("apply", `${path}/a?fieldManager=one`, wanted({ mode: "safe" }));
    },
  },
  {
    name: "custom: a deleted definition takes its objects along",
    async run(talk) {
      const { path, version, kind, definition } = await define(talk);
      await talk.post(path, { apiVersion: version, kind, metadata: { name: "a" }, spec: {} });
      await talk.delete(definition);
      talk.transcript.at(-1)!.answer = null;
      await talk.until(path, ({ status }) => status === 404);
      await talk.until(definition, ({ status }) => status === 404);
    },
  },
];
