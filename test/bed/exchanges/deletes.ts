/** Exchanges about deleting: preconditions, finalizers, propagation, collections. */
import { type Exchange, type Fields, uidOf, versionOf } from "./talk.ts";

const config = (name: string, metadata: Fields = {}): Fields => ({ metadata: { name, ...metadata } });

export const deleteExchanges: readonly Exchange[] = [
  {
    name: "a delete answers with a Status for some kinds and with the object for others",
    async run(talk) {
      await talk.post(talk.in("configmaps"), config("a"));
      await talk.delete(`${talk.in("configmaps")}/a`);
      await talk.post(talk.in("services"), { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } });
      await talk.delete(`${talk.in("services")}/s`);
      await talk.post(talk.in("serviceaccounts"), config("sa"));
      await talk.delete(`${talk.in("serviceaccounts")}/sa`);
      await talk.post(talk.in("leases", "coordination.k8s.io/v1"), config("l"));
      await talk.delete(`${talk.in("leases", "coordination.k8s.io/v1")}/l`);
    },
  },
  {
    name: "preconditions of a delete: uid and version",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      const created = await talk.post(talk.in("configmaps"), config("a"));
      await talk.delete(path, { preconditions: { uid: "other" } }, 409);
      await talk.delete(path, { preconditions: { resourceVersion: "1" } }, 409);
      await talk.delete(path, { preconditions: { uid: uidOf(created), resourceVersion: versionOf(created) } });
    },
  },
  {
    name: "finalizers hold a deleted object until the last is gone",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.post(talk.in("configmaps"), config("a", { finalizers: ["e.com/1", "e.com/2"] }));
      await talk.delete(path);
      await talk.delete(path);
      await talk.patch("merge", path, { metadata: { finalizers: ["e.com/2"] } });
      await talk.patch("json", path, [{ op: "remove", path: "/metadata/finalizers/0" }]);
      await talk.get(path, 404);
    },
  },
  {
    name: "no finalizer can be added to what is being deleted, everything else can be changed",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.post(talk.in("configmaps"), config("a", { finalizers: ["e.com/1"] }));
      await talk.delete(path);
      await talk.patch("merge", path, { metadata: { finalizers: ["e.com/1", "e.com/new"] } }, 422);
      await talk.patch("merge", path, { metadata: { labels: { late: "1" } }, data: { x: "1" } });
      await talk.patch("merge", path, { metadata: { deletionTimestamp: null } });
      await talk.patch("merge", path, { metadata: { finalizers: [] } });
      await talk.get(path, 404);
    },
  },
  {
    name: "a replace without finalizers lets go of a deleted object",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.post(talk.in("configmaps"), config("a", { finalizers: ["e.com/1"] }));
      await talk.delete(path);
      await talk.put(path, config("a"));
      await talk.get(path, 404);
    },
  },
  {
    name: "propagation: foreground and orphan wait for the collector, background does not",
    async run(talk) {
      for (const [name, policy] of [
        ["a", "Foreground"],
        ["b", "Orphan"],
        ["c", "Background"],
      ]) {
        await talk.post(talk.in("configmaps"), config(name!, { finalizers: ["e.com/hold"] }));
        await talk.delete(`${talk.in("configmaps")}/${name}?propagationPolicy=${policy}`);
      }
      await talk.delete(`${talk.in("configmaps")}/a?propagationPolicy=Bogus`, undefined, 422);
    },
  },
  {
    name: "deleting a collection: by selector, answering with what went",
    async run(talk) {
      await talk.post(talk.in("configmaps"), config("a", { labels: { go: "1" } }));
      await talk.post(talk.in("configmaps"), config("b", { labels: { go: "1" }, finalizers: ["e.com/1"] }));
      await talk.post(talk.in("configmaps"), config("c"));
      await talk.delete(`${talk.in("configmaps")}?labelSelector=go`);
      await talk.get(talk.in("configmaps"));
      await talk.delete("/api/v1/namespaces", undefined, 405);
    },
  },
  {
    name: "a Pod that runs somewhere is given its grace period, one that does not goes at once",
    async run(talk) {
      const spec = { containers: [{ name: "c", image: "i:1" }] };
      await talk.post(talk.in("pods"), { metadata: { name: "waiting" }, spec });
      await talk.delete(`${talk.in("pods")}/waiting`);
      await talk.get(`${talk.in("pods")}/waiting`, 404);
      await talk.post(talk.in("pods"), { metadata: { name: "running" }, spec: { ...spec, nodeName: "n1" } });
      await talk.delete(`${talk.in("pods")}/running`);
      await talk.delete(`${talk.in("pods")}/running`, { gracePeriodSeconds: 0 });
      await talk.get(`${talk.in("pods")}/running`, 404);
    },
  },
];
