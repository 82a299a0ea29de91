import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../kube/errors.ts";
import type { SeenBinding } from "./binding.ts";
import type { SeenTarget } from "./group-targets.ts";
import { recorded, TargetRecords } from "./multi-cluster.ts";

const { signal } = new AbortController();
const binding = (namespace: string, name: string): SeenBinding =>
  ({ metadata: { namespace, name, uid: `${namespace}/${name}` } }) as unknown as SeenBinding;
const web = binding("shop", "web");
const target = (id: string): SeenTarget => ({ id, port: 80, state: "healthy", reason: "", description: "" });

/** ConfigMaps by `namespace/name`, with what was asked of them. */
function bed(stored: Record<string, string> = {}) {
  const asked: string[] = [];
  const missing = () => new ApiError({ reason: "not-found", status: 404, asked: "configmaps", said: "not found" });
  const at = ({ namespace, name }: { namespace: string; name: string }) => `${namespace}/${name}`;
  const kube = {
    get: async (_of: unknown, where: { namespace: string; name: string }) => {
      asked.push(`get ${at(where)}`);
      if (stored[at(where)] === undefined) throw missing();
      return { data: { targets: stored[at(where)] } };
    },
    create: async (_of: unknown, { metadata, data }: { metadata: { namespace: string; name: string }; data: { targets: string } }) => {
      asked.push(`create ${at(metadata)}`);
      stored[at(metadata)] = data.targets;
    },
    patch: async (_of: unknown, where: { namespace: string; name: string }, { merge }: { merge: { data: { targets: string } } }) => {
      asked.push(`patch ${at(where)}`);
      stored[at(where)] = merge.data.targets;
    },
    delete: async (_of: unknown, where: { namespace: string; name: string }) => {
      asked.push(`delete ${at(where)}`);
      if (stored[at(where)] === undefined) throw missing();
      delete stored[at(where)];
    },
  };
  return { asked, stored, records: new TargetRecords(kube as never) };
}

const record = "shop/aws-lbc-targets-web";

test("where nothing was written down nothing is ours; an empty record is one, too", async () => {
  assert.equal(await bed().records.read(web, signal), undefined);
  const empty = await bed({ [record]: "" }).records.read(web, signal);
  assert.deepEqual(empty, new Set());
  assert.deepEqual([recorded([target("a")], undefined), recorded([target("a")], empty)], [[], []]);
});

test("of the targets those are ours that were written down: some, or all", () => {
  const all = [target("a"), target("b")];
  assert.deepEqual(
    recorded(all, new Set(["b:80", "c:80"])).map(({ id }) => id),
    ["b"],
  );
  assert.deepEqual(recorded(all, new Set(["a:80", "b:80"])), all);
});

test("a record is read once, and believed as long as the process lives", async () => {
  const { records, asked, stored } = bed({ [record]: "a:80,b:80" });
  assert.deepEqual(await records.read(web, signal), new Set(["a:80", "b:80"]));
  stored[record] = "others";
  assert.deepEqual(await records.read(web, signal), new Set(["a:80", "b:80"]));
  assert.deepEqual(asked, [`get ${record}`]);
  records.forget(web.metadata.uid);
  assert.deepEqual(await records.read(web, signal), new Set(["others"]));
});

test("the first record is made, later ones changed, sorted; what is written already is not written again", async () => {
  const { records, asked, stored } = bed();
  await records.write(web, ["b:80", "a:80"], signal);
  assert.equal(stored[record], "a:80,b:80");
  await records.write(web, ["a:80", "b:80"], signal);
  await records.write(web, ["a:80"], signal);
  assert.deepEqual([asked, stored[record]], [[`get ${record}`, `create ${record}`, `patch ${record}`], "a:80"]);
});

test("a record goes with its binding, also one that is gone already", async () => {
  const { records, stored } = bed({ [record]: "a:80" });
  await records.delete(web, signal);
  assert.deepEqual(stored, {});
  await records.delete(web, signal);
});

test("two bindings whose names and namespaces join to the same text have a record each", async () => {
  const { records, stored } = bed();
  await records.write(binding("a-b", "c"), ["one:80"], signal);
  await records.write(binding("a", "b-c"), ["two:80"], signal);
  assert.deepEqual(stored, { "a-b/aws-lbc-targets-c": "one:80", "a/aws-lbc-targets-b-c": "two:80" });
  assert.deepEqual(await records.read(binding("a-b", "c"), signal), new Set(["one:80"]));
});
