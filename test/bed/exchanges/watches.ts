/** Exchanges about watches: from when, what is told, bookmarks, 410. */
import { type Exchange, type Fields, type Talk, versionOf } from "./talk.ts";

const label = (x: string): Fields => ({ metadata: { labels: { x } } });

/** The version of the whole list, as an informer would start from. */
async function now(talk: Talk, path: string): Promise<string> {
  const reply = await talk.get(path);
  return versionOf(reply);
}

/** Watches from a version; what is said does not hold the version, which differs from run to run. */
async function watchFrom(talk: Talk, path: string, version: string, more = "") {
  const watching = await talk.watch(`${path}?watch=1&resourceVersion=${version}&timeoutSeconds=30${more}`);
  return {
    close: () => watching.close(),
    async read(count: number) {
      const events = await watching.read(count);
      for (const line of talk.transcript) line.said = line.said.replace(`resourceVersion=${version}&`, "resourceVersion=(then)&");
      return events;
    },
  };
}

export const watchExchanges: readonly Exchange[] = [
  {
    name: "a watch tells what changed since its version, in order",
    async run(talk) {
      const path = talk.in("configmaps");
      const version = await now(talk, path);
      await talk.post(path, { metadata: { name: "a" } });
      await talk.patch("merge", `${path}/a`, { data: { x: "1" } });
      await talk.delete(`${path}/a`);
      const watching = await watchFrom(talk, path, version);
      await watching.read(3);
      watching.close();
    },
  },
  {
    name: "a watch tells what changes while it is open",
    async run(talk) {
      const path = talk.in("configmaps");
      const watching = await watchFrom(talk, path, await now(talk, path));
      await talk.post(path, { metadata: { name: "a" } });
      await watching.read(1);
      await talk.patch("merge", `${path}/a`, { data: { x: "1" } });
      await watching.read(1);
      await talk.delete(`${path}/a`);
      await watching.read(1);
      watching.close();
    },
  },
  {
    name: "a write that changes nothing is not told",
    async run(talk) {
      const path = talk.in("configmaps");
      const watching = await watchFrom(talk, path, await now(talk, path));
      await talk.post(path, { metadata: { name: "a" }, data: { x: "1" } });
      await talk.patch("merge", `${path}/a`, { data: { x: "1" } });
      await talk.post(path, { metadata: { name: "end" } });
      await watching.read(2);
      watching.close();
    },
  },
  {
    name: "with a label selector, coming into it is ADDED and leaving it is DELETED",
    async run(talk) {
      const path = talk.in("configmaps");
      const version = await now(talk, path);
      await talk.post(path, { ...label("1"), metadata: { name: "a", labels: { x: "1" } } });
      await talk.patch("merge", `${path}/a`, label("2"));
      await talk.patch("merge", `${path}/a`, { data: { unseen: "1" } });
      await talk.patch("merge", `${path}/a`, label("1"));
      await talk.patch("merge", `${path}/a`, { data: { seen: "1" } });
      await talk.delete(`${path}/a`);
      const watching = await watchFrom(talk, path, version, "&labelSelector=x%3D1");
      await watching.read(5);
      watching.close();
    },
  },
  {
    name: "with a field selector, only the one is told",
    async run(talk) {
      const path = talk.in("configmaps");
      const version = await now(talk, path);
      await talk.post(path, { metadata: { name: "a" } });
      await talk.post(path, { metadata: { name: "b" } });
      await talk.delete(`${path}/b`);
      const watching = await watchFrom(talk, path, version, "&fieldSelector=metadata.name%3Db");
      await watching.read(2);
      watching.close();
    },
  },
  {
    name: "a Pod that is bound comes into the selection of its node",
    async run(talk) {
      const path = talk.in("pods");
      const version = await now(talk, path);
      const spec = { containers: [{ name: "c", image: "i" }] };
      await talk.post(path, { metadata: { name: "elsewhere" }, spec: { ...spec, nodeName: "n2" } });
      await talk.post(path, { metadata: { name: "here" }, spec: { ...spec, nodeName: "n1" } });
      const watching = await watchFrom(talk, path, version, "&fieldSelector=spec.nodeName%3Dn1");
      await watching.read(1);
      watching.close();
    },
  },
  {
    name: "without a version, or at version 0, everything that exists is told first",
    async run(talk) {
      const path = talk.in("configmaps");
      await talk.post(path, { metadata: { name: "a" } });
      await talk.post(path, { metadata: { name: "b" } });
      for (const version of ["", "resourceVersion=0&"]) {
        const watching = await talk.watch(`${path}?watch=1&${version}timeoutSeconds=30`);
        await watching.read(2);
        watching.close();
      }
    },
  },
  {
    name: "a streaming list ends with its bookmark and goes on as a watch",
    async run(talk) {
      const path = talk.in("configmaps");
      await talk.post(path, { metadata: { name: "a" } });
      const watching = await talk.watch(
        `${path}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=30`,
      );
      await watching.read(2);
      await talk.post(path, { metadata: { name: "b" } });
      await watching.read(1);
      watching.close();
    },
  },
  {
    name: "a streaming list of a typed resource: the bookmark carries the empty object",
    async run(talk) {
      for (const path of [talk.in("services"), talk.in("leases", "coordination.k8s.io/v1"), talk.in("events")]) {
        const watching = await talk.watch(
          `${path}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=30`,
        );
        await watching.read(1);
        watching.close();
      }
      const nodes = await talk.watch(
        `/api/v1/nodes?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=30&labelSelector=no%3Dsuch`,
      );
      await nodes.read(1);
      nodes.close();
    },
  },
  {
    name: "a streaming list needs its options to agree",
    async run(talk) {
      const path = talk.in("configmaps");
      await talk.get(`${path}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true`, 422);
      await talk.get(`${path}?watch=1&resourceVersion=1&resourceVersionMatch=NotOlderThan`, 422);
    },
  },
  {
    name: "a watch ends when its time is over",
    async run(talk) {
      const path = talk.in("configmaps");
      await talk.post(path, { metadata: { name: "a" } });
      const watching = await talk.watch(`${path}?watch=1&timeoutSeconds=1`);
      await watching.drain();
    },
  },
  {
    name: "the old watch path and the watch of one object",
    async run(talk) {
      await talk.post(talk.in("configmaps"), { metadata: { name: "a" } });
      await talk.post(talk.in("configmaps"), { metadata: { name: "b" } });
      const all = await talk.watch(`/api/v1/watch/namespaces/${talk.namespace}/configmaps?timeoutSeconds=30`);
      await all.read(2);
      all.close();
      const one = await talk.watch(`/api/v1/watch/namespaces/${talk.namespace}/configmaps/b?timeoutSeconds=30`);
      await one.read(1);
      one.close();
    },
  },
  {
    name: "a watch at a version that is no number fails",
    async run(talk) {
      await talk.get(`${talk.in("configmaps")}?watch=1&resourceVersion=abc`, 500);
    },
  },
  {
    name: "a watch of a table tells rows, and the columns only once",
    async run(talk) {
      const path = talk.in("leases", "coordination.k8s.io/v1");
      await talk.post(path, { metadata: { name: "a" }, spec: { holderIdentity: "me" } });
      const watching = await talk.watch(`${path}?watch=1&timeoutSeconds=30`, {
        accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
      });
      await watching.read(1);
      await talk.post(path, { metadata: { name: "b" }, spec: { holderIdentity: "you" } });
      await watching.read(1);
      watching.close();
    },
  },
  {
    name: "deleting what has finalizers is MODIFIED first, DELETED when the last is gone",
    async run(talk) {
      const path = talk.in("configmaps");
      const version = await now(talk, path);
      await talk.post(path, { metadata: { name: "a", finalizers: ["e.com/1"] } });
      await talk.delete(`${path}/a`);
      await talk.patch("merge", `${path}/a`, { metadata: { finalizers: null } });
      const watching = await watchFrom(talk, path, version);
      await watching.read(3);
      watching.close();
    },
  },
  {
    name: "deleting a collection tells each",
    async run(talk) {
      const path = talk.in("configmaps");
      for (const name of ["a", "b"]) await talk.post(path, { metadata: { name, labels: { gone: "1" } } });
      await talk.post(path, { metadata: { name: "kept" } });
      const version = await now(talk, path);
      await talk.delete(`${path}?labelSelector=gone`);
      const watching = await watchFrom(talk, path, version);
      await watching.read(2);
      watching.close();
    },
  },
];
