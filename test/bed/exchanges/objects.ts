/** Exchanges about single objects: names, versions, conflicts, metadata, dry runs. */
import { type Exchange, type Fields, uidOf, versionOf } from "./talk.ts";

const config = (name: string, more: Fields = {}): Fields => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, ...more });

export const objectExchanges: readonly Exchange[] = [
  {
    name: "an object that is created can be read, and has a uid, a version and a time",
    async run(talk) {
      await talk.post(talk.in("configmaps"), config("a", { data: { x: "1" } }));
      await talk.get(`${talk.in("configmaps")}/a`);
    },
  },
  {
    name: "creating a name that exists is AlreadyExists",
    async run(talk) {
      await talk.post(talk.in("configmaps"), config("a"));
      await talk.post(talk.in("configmaps"), config("a"), 409);
    },
  },
  {
    name: "a missing object is NotFound for every verb",
    async run(talk) {
      const path = `${talk.in("configmaps")}/none`;
      await talk.get(path, 404);
      await talk.put(path, config("none"), 404);
      await talk.patch("merge", path, { data: {} }, 404);
      await talk.delete(path, undefined, 404);
    },
  },
  {
    name: "what the server sets cannot be chosen by the client",
    async run(talk) {
      await talk.post(talk.in("configmaps"), {
        metadata: { name: "a", uid: "mine", creationTimestamp: "2020-01-01T00:00:00Z", deletionTimestamp: "2020-01-01T00:00:00Z" },
      });
    },
  },
  {
    name: "an object with a resourceVersion cannot be created",
    async run(talk) {
      await talk.post(talk.in("configmaps"), { metadata: { name: "a", resourceVersion: "5" } }, 500);
    },
  },
  {
    name: "names must be DNS subdomains",
    async run(talk) {
      await talk.post(talk.in("configmaps"), config("Not_Valid"), 422);
      await talk.post(talk.in("configmaps"), { metadata: {} }, 422);
      await talk.post(talk.in("services"), { metadata: { name: "a.b" }, spec: { ports: [{ port: 80 }] } }, 422);
    },
  },
  {
    name: "generateName makes a name, and keeps what it was made from",
    async run(talk) {
      await talk.post(talk.in("configmaps"), { metadata: { generateName: "gen-" } });
      await talk.post(talk.in("configmaps"), { metadata: { generateName: "gen-", name: "given" } });
    },
  },
  {
    name: "labels, annotations and finalizers are checked, all at once",
    async run(talk) {
      const labels = { "a b": "c", ok: "sp ace", "a/b/c": "x" };
      await talk.post(talk.in("configmaps"), { metadata: { name: "a", labels, annotations: { "bad key!": "x" } } }, 422);
      await talk.post(talk.in("configmaps"), { metadata: { name: "a", finalizers: ["noslash"] } }, 422);
      await talk.post(talk.in("configmaps"), { metadata: { name: "a", labels: { n: 1 } } }, 400);
    },
  },
  {
    name: "data that is not text is refused",
    async run(talk) {
      await talk.post(talk.in("configmaps"), config("a", { data: { x: 1 } }), 400);
    },
  },
  {
    name: "the body must match the path: kind, version, namespace and name",
    async run(talk) {
      await talk.post(talk.in("configmaps"), { kind: "Secret", apiVersion: "v1", metadata: { name: "a" } }, 400);
      await talk.post(talk.in("configmaps"), { metadata: { name: "a", namespace: "other" } }, 400);
      await talk.post(talk.in("configmaps"), config("a"));
      await talk.put(`${talk.in("configmaps")}/a`, config("b"), 400);
      await talk.patch("merge", `${talk.in("configmaps")}/a`, { metadata: { name: "b" } }, 400);
    },
  },
  {
    name: "a body that is no JSON is a bad request",
    async run(talk) {
      await talk.raw("POST", talk.in("configmaps"), "{bad", { "content-type": "application/json" }, 400);
    },
  },
  {
    name: "a namespace that does not exist takes nothing in",
    async run(talk) {
      await talk.post("/api/v1/namespaces/nowhere-at-all/configmaps", config("a"), 404);
    },
  },
  {
    name: "paths that lead nowhere say so, and methods that do not fit too",
    async run(talk) {
      await talk.get(talk.in("configmapz"), 404);
      await talk.get("/apis/nobody.example/v1/things", 404);
      await talk.get(`${talk.in("configmaps")}/a/status`, 404);
      await talk.raw("POST", `${talk.in("configmaps")}/a`, "{}", { "content-type": "application/json" }, 405);
      await talk.raw("PUT", talk.in("configmaps"), "{}", { "content-type": "application/json" }, 405);
    },
  },
  {
    name: "a replace with an old version is a conflict, with the current one it is not",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      const created = await talk.post(talk.in("configmaps"), config("a", { data: { x: "1" } }));
      const metadata = { name: "a", resourceVersion: versionOf(created) };
      await talk.put(path, config("a", { metadata, data: { x: "2" } }));
      await talk.put(path, config("a", { metadata, data: { x: "3" } }), 409);
      await talk.get(path);
    },
  },
  {
    name: "a replace without a version overwrites, and drops what it leaves out",
    async run(talk) {
      await talk.post(talk.in("configmaps"), {
        metadata: { name: "a", labels: { l: "1" }, annotations: { n: "1" } },
        data: { x: "1", y: "2" },
      });
      await talk.put(`${talk.in("configmaps")}/a`, config("a", { data: { x: "9" } }));
    },
  },
  {
    name: "a replace meant for another uid is a conflict",
    async run(talk) {
      await talk.post(talk.in("configmaps"), config("a"));
      await talk.put(`${talk.in("configmaps")}/a`, config("a", { metadata: { name: "a", uid: "other" } }), 409);
    },
  },
  {
    name: "a write that changes nothing keeps the version",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.post(talk.in("configmaps"), config("a", { data: { x: "1" } }));
      await talk.put(path, config("a", { data: { x: "1" } }));
      await talk.patch("merge", path, { data: { x: "1" } });
      await talk.patch("strategic", path, {});
    },
  },
  {
    name: "the uid cannot be patched",
    async run(talk) {
      await talk.post(talk.in("configmaps"), config("a"));
      await talk.patch("merge", `${talk.in("configmaps")}/a`, { metadata: { uid: "other" } }, 422);
    },
  },
  {
    name: "a dry run answers as if, and leaves nothing behind",
    async run(talk) {
      const path = `${talk.in("configmaps")}/a`;
      await talk.post(`${talk.in("configmaps")}?dryRun=All`, config("a"));
      await talk.get(path, 404);
      await talk.post(talk.in("configmaps"), config("a", { data: { x: "1" } }));
      await talk.patch("merge", `${path}?dryRun=All`, { data: { x: "2" } });
      await talk.put(`${path}?dryRun=All`, config("a", { data: { x: "3" } }));
      await talk.delete(path, { kind: "DeleteOptions", apiVersion: "v1", dryRun: ["All"] });
      await talk.get(path);
      await talk.post(`${talk.in("configmaps")}?dryRun=Some`, config("b"), 422);
    },
  },
  {
    name: "an immutable ConfigMap stays as it is",
    async run(talk) {
      await talk.post(talk.in("configmaps"), config("a", { immutable: true, data: { x: "1" } }));
      await talk.patch("merge", `${talk.in("configmaps")}/a`, { data: { x: "2" } }, 422);
      await talk.patch("merge", `${talk.in("configmaps")}/a`, { metadata: { labels: { ok: "1" } } });
    },
  },
  {
    name: "a Secret keeps text as base64, and its type for life",
    async run(talk) {
      await talk.post(talk.in("secrets"), { metadata: { name: "s" }, stringData: { user: "me" } });
      await talk.patch("merge", `${talk.in("secrets")}/s`, { type: "other" }, 422);
    },
  },
  {
    name: "a namespace is labelled with its name, terminates when deleted, and takes nothing in then",
    async run(talk) {
      const name = `${talk.namespace}-leaving`;
      await talk.post("/api/v1/namespaces", { metadata: { name, labels: { mine: "1" } } });
      await talk.patch("merge", `/api/v1/namespaces/${name}`, { metadata: { finalizers: ["example.com/hold"] } });
      await talk.delete(`/api/v1/namespaces/${name}`);
      await talk.post(`/api/v1/namespaces/${name}/configmaps`, config("late"), 403);
    },
  },
  {
    name: "a namespace goes when its own finalizers are gone",
    async run(talk) {
      const name = `${talk.namespace}-gone`;
      await talk.post("/api/v1/namespaces", { metadata: { name } });
      await talk.delete(`/api/v1/namespaces/${name}`);
      await talk.put(`/api/v1/namespaces/${name}/finalize`, { metadata: { name }, spec: { finalizers: [] } });
      await talk.get(`/api/v1/namespaces/${name}`, 404);
    },
  },
  {
    name: "metadata alone, when that is asked for",
    async run(talk) {
      const accept = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" };
      const lists = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" };
      await talk.post(talk.in("configmaps"), { metadata: { name: "a", labels: { x: "y" } }, data: { big: "thing" } });
      await talk.get(`${talk.in("configmaps")}/a`, 200, accept);
      await talk.get(talk.in("configmaps"), 200, lists);
    },
  },
  {
    name: "a deleted and remade object has a new uid",
    async run(talk) {
      const first = await talk.post(talk.in("configmaps"), config("a"));
      await talk.delete(`${talk.in("configmaps")}/a`, { preconditions: { uid: uidOf(first) } });
      await talk.post(talk.in("configmaps"), config("a"));
    },
  },
];
