/** Exchanges about server-side apply. */
import type { Exchange, Fields } from "./talk.ts";

const config = (data: Fields, metadata: Fields = {}): Fields => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", ...metadata },
  data,
});

export const applyExchanges: readonly Exchange[] = [
  {
    name: "apply creates what is missing, changes what is there, and twice the same is no write",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a?fieldManager=one`;
      await talk.patch("apply", path, config({ x: "1", y: "2" }, { labels: { l: "1" } }), 201);
      await talk.patch("apply", path, config({ x: "1", y: "2" }, { labels: { l: "1" } }));
      await talk.patch("apply", path, config({ x: "3", y: "2" }));
    },
  },
  {
    name: "apply removes what its manager no longer says, and nobody else owns",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.patch("apply", `${path}?fieldManager=one`, config({ x: "1", y: "2" }), 201);
      await talk.patch("apply", `${path}?fieldManager=two`, config({ y: "2", z: "3" }));
      await talk.patch("apply", `${path}?fieldManager=one`, config({}));
    },
  },
  {
    name: "apply conflicts with another manager's field, unless forced",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.patch("apply", `${path}?fieldManager=one`, config({ x: "1", y: "1" }), 201);
      await talk.patch("apply", `${path}?fieldManager=two`, config({ x: "2" }), 409);
      await talk.patch("apply", `${path}?fieldManager=two`, config({ x: "2", y: "3" }), 409);
      await talk.patch("apply", `${path}?fieldManager=two&force=true`, config({ x: "2" }));
      await talk.patch("apply", `${path}?fieldManager=one`, config({ x: "1", y: "1" }), 409);
    },
  },
  {
    name: "apply conflicts with what an update wrote",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.post(`${talk.in("configmaps")}?fieldManager=hand`, { metadata: { name: "a" }, data: { x: "1", y: "1" } });
      await talk.patch("apply", `${path}?fieldManager=one`, config({ x: "2" }), 409);
      await talk.patch("apply", `${path}?fieldManager=one`, config({ x: "1" }));
      await talk.patch("merge", `${path}?fieldManager=hand`, { data: { x: "5" } });
      await talk.patch("apply", `${path}?fieldManager=one`, config({ x: "1" }), 409);
    },
  },
  {
    name: "apply needs a manager, a kind, and no record of ownership",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.patch("apply", path, config({}), 422);
      await talk.patch("apply", `${path}?fieldManager=one`, { kind: "ConfigMap", metadata: { name: "a" } }, 400);
      await talk.patch("apply", `${path}?fieldManager=one`, config({}, { managedFields: [] }), 400);
      await talk.post(talk.in("configmaps"), { metadata: { name: "a" } });
      await talk.patch("merge", `${path}?force=true`, { data: {} }, 422);
    },
  },
  {
    name: "apply joins ports by port and protocol, finalizers as a set",
    async run(talk) {
      const service = (port: Fields, finalizer: string): Fields => ({
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "s", finalizers: [finalizer] },
        spec: { ports: [port] },
      });
      const path = `${talk.in("services")}/s`;
      await talk.patch("apply", `${path}?fieldManager=one`, service({ name: "a", port: 80 }, "e.com/1"), 201);
      await talk.patch("apply", `${path}?fieldManager=two`, service({ name: "b", port: 81 }, "e.com/2"));
      await talk.patch("apply", `${path}?fieldManager=two`, service({ name: "b", port: 80 }, "e.com/2"), 409);
      await talk.patch("apply", `${path}?fieldManager=one`, { apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: {} });
    },
  },
  {
    name: "apply joins conditions of a Node by type, takes taints as one",
    async run(talk) {
      const path = `/api/v1/nodes/${talk.namespace}`;
      const node = (more: Fields): Fields => ({ apiVersion: "v1", kind: "Node", metadata: { name: talk.namespace }, ...more });
      await talk.post(
        "/api/v1/nodes",
        node({ spec: { taints: [{ key: "k", effect: "NoSchedule" }] }, status: { conditions: [{ type: "Ready", status: "True" }] } }),
      );
      await talk.patch("apply", `${path}/status?fieldManager=one`, node({ status: { conditions: [{ type: "Mine", status: "True" }] } }));
      await talk.patch("apply", `${path}?fieldManager=one`, node({ spec: { taints: [{ key: "z", effect: "NoSchedule" }] } }), 409);
      await talk.patch("apply", `${path}?fieldManager=one&force=true`, node({ spec: { taints: [{ key: "z", effect: "NoSchedule" }] } }));
      await talk.delete(path);
    },
  },
];
