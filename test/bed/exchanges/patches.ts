/** Exchanges about the patch kinds: JSON, merge, strategic merge. */
import { type Exchange, type Fields, uidOf } from "./talk.ts";

const conditions = (...types: string[]): Fields[] => types.map((type) => ({ type, status: "True" }));

/** A Node named after the exchange, patched through its status unless said otherwise. */
const node = (name: string, status: Fields = {}): Fields => ({ apiVersion: "v1", kind: "Node", metadata: { name }, status });

export const patchExchanges: readonly Exchange[] = [
  {
    name: "a status patch that names another uid is refused, and one that names its own is not",
    async run(talk) {
      const path = `/api/v1/nodes/${talk.namespace}`;
      const created = await talk.post("/api/v1/nodes", node(talk.namespace));
      const status = { conditions: conditions("NetworkUnavailable") };
      await talk.patch("strategic", `${path}/status`, { metadata: { uid: "other" }, status }, 422);
      await talk.patch("strategic", `${path}/status`, { metadata: { uid: uidOf(created) }, status });
      await talk.get(path);
    },
  },
  {
    name: "a JSON patch adds, replaces, removes, moves, copies and tests, all or nothing",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.post(talk.in("configmaps"), { metadata: { name: "a" }, data: { x: "1", y: "2" } });
      await talk.patch("json", path, [
        { op: "test", path: "/data/x", value: "1" },
        { op: "add", path: "/data/z", value: "3" },
        { op: "replace", path: "/data/x", value: "9" },
        { op: "remove", path: "/data/y" },
        { op: "copy", from: "/data/x", path: "/data/copied" },
        { op: "move", from: "/data/z", path: "/data/moved" },
        { op: "add", path: "/metadata/labels", value: { "example.com/a": "1", b: "2" } },
        { op: "remove", path: "/metadata/labels/example.com~1a" },
      ]);
      await talk.patch(
        "json",
        path,
        [
          { op: "add", path: "/data/more", value: "1" },
          { op: "test", path: "/data/x", value: "other" },
        ],
        422,
      );
      await talk.get(path);
    },
  },
  {
    name: "a JSON patch works inside lists by index and at their end",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.post(talk.in("configmaps"), { metadata: { name: "a", finalizers: ["e.com/1", "e.com/2"] } });
      await talk.patch("json", path, [{ op: "add", path: "/metadata/finalizers/-", value: "e.com/3" }]);
      await talk.patch("json", path, [{ op: "add", path: "/metadata/finalizers/0", value: "e.com/0" }]);
      await talk.patch("json", path, [{ op: "replace", path: "/metadata/finalizers/1", value: "e.com/x" }]);
      await talk.patch("json", path, [{ op: "remove", path: "/metadata/finalizers/2" }]);
      await talk.patch("json", path, [{ op: "add", path: "/metadata/finalizers/9", value: "e.com/9" }], 422);
      await talk.patch("json", path, [{ op: "remove", path: "/metadata/finalizers" }]);
    },
  },
  {
    name: "JSON patches that cannot be done are refused",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.post(talk.in("configmaps"), { metadata: { name: "a" }, data: { x: "1" } });
      await talk.patch("json", path, [{ op: "remove", path: "/data/none" }], 422);
      await talk.patch("json", path, [{ op: "add", path: "/none/x", value: 1 }], 422);
      await talk.patch("json", path, [{ op: "bogus", path: "/data/x" }], 422);
      await talk.patch("json", path, [{ op: "replace", path: "/metadata/labels/z", value: "1" }], 422);
      await talk.patch("json", path, { not: "a list" }, 400);
      await talk.patch("json", path, [{ op: "replace", path: "/data/none", value: "added all the same" }]);
      await talk.patch("json", path, [{ op: "test", path: "/data/missing", value: null }]);
    },
  },
  {
    name: "a JSON patch can hold a precondition on the version",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      const created = await talk.post(talk.in("configmaps"), { metadata: { name: "a" } });
      const version = (created.body.metadata as Fields).resourceVersion!;
      await talk.patch("json", path, [
        { op: "test", path: "/metadata/resourceVersion", value: version },
        { op: "add", path: "/data", value: { x: "1" } },
      ]);
      await talk.patch(
        "json",
        path,
        [
          { op: "test", path: "/metadata/resourceVersion", value: version },
          { op: "add", path: "/data", value: { x: "2" } },
        ],
        422,
      );
    },
  },
  {
    name: "a merge patch lays fields over fields, removes with null, replaces lists",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.post(talk.in("configmaps"), { metadata: { name: "a", finalizers: ["e.com/1"] }, data: { x: "1", y: "2" } });
      await talk.patch("merge", path, { metadata: { labels: { l: "1" }, finalizers: ["e.com/2"] }, data: { x: null, z: "3" } });
      await talk.patch("merge", path, { data: null, metadata: { finalizers: null, labels: null } });
    },
  },
  {
    name: "a merge patch with an old version is a conflict",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      const created = await talk.post(talk.in("configmaps"), { metadata: { name: "a" } });
      const resourceVersion = (created.body.metadata as Fields).resourceVersion!;
      await talk.patch("merge", path, { metadata: { resourceVersion }, data: { x: "1" } });
      await talk.patch("merge", path, { metadata: { resourceVersion }, data: { x: "2" } }, 409);
      await talk.patch("strategic", path, { metadata: { resourceVersion }, data: { x: "3" } }, 409);
    },
  },
  {
    name: "a patch of no known kind is refused",
    async run(talk) {
      await talk.post(talk.in("configmaps"), { metadata: { name: "a" } });
      await talk.raw("PATCH", `${talk.in("configmaps")}/a`, "{}", { "content-type": "application/json" }, 415);
    },
  },
  {
    name: "strategic: conditions join by type, the patch's first",
    async run(talk) {
      const path = `/api/v1/nodes/${talk.namespace}`;
      await talk.post("/api/v1/nodes", node(talk.namespace));
      await talk.patch("strategic", `${path}/status`, { status: { conditions: conditions("Ready", "B") } });
      await talk.patch("strategic", `${path}/status`, {
        status: {
          conditions: [
            { type: "C", status: "False" },
            { type: "Ready", status: "Unknown" },
          ],
        },
      });
      await talk.patch("strategic", `${path}/status`, { status: { conditions: [{ type: "B", reason: "Because" }] } });
      await talk.delete(path);
    },
  },
  {
    name: "strategic: $setElementOrder and $patch delete",
    async run(talk) {
      const path = `/api/v1/nodes/${talk.namespace}`;
      await talk.post("/api/v1/nodes", node(talk.namespace, { conditions: conditions("A", "B", "C") }));
      await talk.patch("strategic", `${path}/status`, {
        status: {
          "$setElementOrder/conditions": [{ type: "C" }, { type: "B" }, { type: "A" }],
          conditions: [{ type: "B", status: "False" }],
        },
      });
      await talk.patch("strategic", `${path}/status`, { status: { conditions: [{ type: "C", $patch: "delete" }] } });
      await talk.patch("strategic", `${path}/status`, {
        status: { "$setElementOrder/conditions": [{ type: "A" }, { type: "D" }], conditions: [{ type: "D", status: "True" }] },
      });
      await talk.delete(path);
    },
  },
  {
    name: "strategic: addresses with $patch replace are grouped by type in order of first appearance",
    async run(talk) {
      const path = `/api/v1/nodes/${talk.namespace}`;
      await talk.post("/api/v1/nodes", node(talk.namespace, { addresses: [{ type: "Hostname", address: "old" }] }));
      await talk.patch("strategic", `${path}/status`, {
        status: {
          addresses: [
            { type: "InternalIP", address: "10.0.0.1" },
            { type: "Hostname", address: "a" },
            { type: "InternalIP", address: "fd00::1" },
            { type: "InternalDNS", address: "a.internal" },
            { $patch: "replace" },
          ],
        },
      });
      await talk.delete(path);
    },
  },
  {
    name: "strategic: addresses without the directive join by type, so that a second of one type is lost",
    async run(talk) {
      const path = `/api/v1/nodes/${talk.namespace}`;
      await talk.post("/api/v1/nodes", node(talk.namespace));
      const addresses = [
        { type: "InternalIP", address: "10.0.0.1" },
        { type: "Hostname", address: "a" },
      ];
      await talk.patch("strategic", `${path}/status`, { status: { addresses } });
      await talk.patch("strategic", `${path}/status`, { status: { addresses: [{ type: "InternalIP", address: "10.0.0.2" }] } });
      await talk.delete(path);
    },
  },
  {
    name: "strategic: addresses where there were none are taken as they are sent, several of one type too",
    async run(talk) {
      const path = `/api/v1/nodes/${talk.namespace}`;
      await talk.post("/api/v1/nodes", node(talk.namespace));
      const addresses = [
        { type: "InternalIP", address: "10.0.0.1" },
        { type: "Hostname", address: "h" },
        { type: "InternalIP", address: "10.0.0.2" },
      ];
      await talk.patch("strategic", `${path}/status`, { status: { addresses } });
      await talk.delete(path);
    },
  },
  {
    name: "strategic: taints are replaced as a whole",
    async run(talk) {
      const path = `/api/v1/nodes/${talk.namespace}`;
      await talk.post("/api/v1/nodes", node(talk.namespace));
      await talk.patch("strategic", path, { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } });
      await talk.patch("strategic", path, { spec: { taints: [{ key: "b", effect: "NoExecute", value: "v" }] } });
      await talk.patch("strategic", path, { spec: { taints: null } });
      await talk.delete(path);
    },
  },
  {
    name: "strategic: finalizers join as a set and leave by $deleteFromPrimitiveList",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.post(talk.in("configmaps"), { metadata: { name: "a", finalizers: ["e.com/1", "e.com/2"] } });
      await talk.patch("strategic", path, { metadata: { finalizers: ["e.com/3", "e.com/1"] } });
      await talk.patch("strategic", path, {
        metadata: { "$deleteFromPrimitiveList/finalizers": ["e.com/1"], "$setElementOrder/finalizers": ["e.com/2", "e.com/3"] },
      });
      await talk.patch("strategic", path, { metadata: { finalizers: null } });
    },
  },
  {
    name: "strategic: owners join by uid",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      const owner = (uid: string) => ({ apiVersion: "v1", kind: "ConfigMap", name: `n${uid}`, uid });
      await talk.post(talk.in("configmaps"), { metadata: { name: "a", ownerReferences: [owner("1")] } });
      await talk.patch("strategic", path, { metadata: { ownerReferences: [owner("2")] } });
      await talk.patch("strategic", path, { metadata: { ownerReferences: [{ uid: "1", $patch: "delete" }] } });
      await talk.patch("strategic", path, { metadata: { ownerReferences: [{ uid: "3", kind: "X" }] } }, 422);
    },
  },
  {
    name: "strategic: ports of a Service join by port",
    async run(talk) {
      const path = `${talk.in("services")}/s`;
      await talk.post(talk.in("services"), {
        metadata: { name: "s" },
        spec: {
          ports: [
            { name: "a", port: 80 },
            { name: "b", port: 81 },
          ],
        },
      });
      await talk.patch("strategic", path, { spec: { ports: [{ port: 80, targetPort: 8080 }] } });
      await talk.patch("strategic", path, { spec: { ports: [{ name: "c", port: 82 }] } });
      await talk.patch("strategic", path, { spec: { ports: [{ port: 81, $patch: "delete" }] } });
    },
  },
  {
    name: "strategic: a map is replaced by directive",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.post(talk.in("configmaps"), { metadata: { name: "a", labels: { x: "1", y: "2" } }, data: { d: "1" } });
      await talk.patch("strategic", path, { metadata: { labels: { $patch: "replace", z: "3" } } });
      await talk.patch("strategic", path, { data: { $patch: "delete" } });
    },
  },
];
