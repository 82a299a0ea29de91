/** Exchanges about lists: selectors, pages, versions. */
import { type Exchange, type Fields, type Talk, versionOf } from "./talk.ts";

async function five(talk: Talk): Promise<void> {
  const labelled: Fields[] = [
    { app: "web", tier: "front" },
    { app: "web", tier: "back" },
    { app: "db", n: "7" },
    { app: "db", n: "12", tier: "back" },
    {},
  ];
  for (const [i, labels] of labelled.entries()) {
    await talk.post(talk.in("configmaps"), { metadata: { name: `c${i}`, labels } });
  }
}

const selectors = [
  "app=web",
  "app==web,tier=back",
  "app!=web",
  "app in (web, db),tier",
  "app notin (web)",
  "tier",
  "!tier",
  "n>8",
  "n<8",
  "app=",
  "tier in (front)",
];

export const listExchanges: readonly Exchange[] = [
  {
    name: "a list holds what is there, in the order of names",
    async run(talk) {
      await talk.get(talk.in("configmaps"));
      await five(talk);
      await talk.get(talk.in("configmaps"));
    },
  },
  ...selectors.map(
    (selector): Exchange => ({
      name: `label selector ${selector}`,
      async run(talk) {
        await five(talk);
        await talk.get(`${talk.in("configmaps")}?labelSelector=${encodeURIComponent(selector)}`);
      },
    }),
  ),
  {
    name: "label selectors that cannot be read are refused",
    async run(talk) {
      await talk.get(`${talk.in("configmaps")}?labelSelector=${encodeURIComponent("a===b")}`, 400);
    },
  },
  {
    name: "field selectors: name, namespace, and nothing else of a ConfigMap",
    async run(talk) {
      await five(talk);
      await talk.get(`${talk.in("configmaps")}?fieldSelector=metadata.name%3Dc2`);
      await talk.get(`${talk.in("configmaps")}?fieldSelector=metadata.name%21%3Dc2,metadata.namespace%3D${talk.namespace}`);
      await talk.get(`/api/v1/configmaps?fieldSelector=metadata.namespace%3D${talk.namespace}`);
      await talk.get(`${talk.in("configmaps")}?fieldSelector=data.x%3D1`, 400);
    },
  },
  {
    name: "field selectors of Pods: the node they run on, their phase",
    async run(talk) {
      const pod = (name: string, nodeName?: string): Fields => ({
        metadata: { name },
        spec: { containers: [{ name: "c", image: "i" }], ...(nodeName === undefined ? {} : { nodeName }) },
      });
      await talk.post(talk.in("pods"), pod("a", "n1"));
      await talk.post(talk.in("pods"), pod("b"));
      await talk.get(`${talk.in("pods")}?fieldSelector=spec.nodeName%3Dn1`);
      await talk.get(`${talk.in("pods")}?fieldSelector=spec.nodeName%3D,status.phase%3DPending`);
      await talk.get(`${talk.in("pods")}?fieldSelector=spec.bogus%3D1`, 400);
    },
  },
  {
    name: "field selectors of Events: what they are about, and their type",
    async run(talk) {
      const event = (name: string, type: string, about: string): Fields => ({
        metadata: { name },
        involvedObject: { kind: "ConfigMap", name: about, namespace: talk.namespace },
        type,
        reason: "Tested",
        message: "m",
      });
      await talk.post(talk.in("events"), event("e1", "Normal", "a"));
      await talk.post(talk.in("events"), event("e2", "Warning", "b"));
      await talk.get(`${talk.in("events")}?fieldSelector=involvedObject.name%3Da`);
      await talk.get(`${talk.in("events")}?fieldSelector=type%3DWarning,reason%3DTested,involvedObject.kind%3DConfigMap`);
      await talk.get(`${talk.in("events")}?fieldSelector=involvedObject.bogus%3Da`, 400);
    },
  },
  {
    name: "field selectors of Services and Secrets: their type",
    async run(talk) {
      await talk.post(talk.in("services"), { metadata: { name: "a" }, spec: { type: "NodePort", ports: [{ port: 80 }] } });
      await talk.post(talk.in("services"), { metadata: { name: "b" }, spec: { ports: [{ port: 80 }] } });
      await talk.get(`${talk.in("services")}?fieldSelector=spec.type%3DNodePort`);
      await talk.post(talk.in("secrets"), { metadata: { name: "a" }, type: "example.com/x" });
      await talk.get(`${talk.in("secrets")}?fieldSelector=type%3Dexample.com%2Fx`);
    },
  },
  {
    name: "pages: limit, continue, and what remains",
    async run(talk) {
      await five(talk);
      const list = `${talk.in("configmaps")}?limit=2`;
      const first = await talk.get(list);
      const token = String((first.body.metadata as Fields).continue);
      const second = await talk.get(`${list}&continue=${encodeURIComponent(token)}`).then(hideToken(talk, token));
      const next = String((second.body.metadata as Fields).continue);
      await talk.get(`${list}&continue=${encodeURIComponent(next)}`).then(hideToken(talk, next));
    },
  },
  {
    name: "pages stay consistent: what is written between them is not seen",
    async run(talk) {
      await five(talk);
      const list = `${talk.in("configmaps")}?limit=3`;
      const first = await talk.get(list);
      await talk.delete(`${talk.in("configmaps")}/c4`);
      await talk.post(talk.in("configmaps"), { metadata: { name: "c9" } });
      await talk.patch("merge", `${talk.in("configmaps")}/c3`, { data: { new: "1" } });
      const token = String((first.body.metadata as Fields).continue);
      await talk.get(`${list}&continue=${encodeURIComponent(token)}`).then(hideToken(talk, token));
    },
  },
  {
    name: "pages whose past is forgotten are told 410, with a token to go on with what there is now",
    async run(talk) {
      await five(talk);
      await talk.compact();
      const old = Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"/c1\\u0000"}').toString("base64url");
      const gone = await talk.get(`${talk.in("configmaps")}?limit=2&continue=${old}`, 410);
      const onwards = String((gone.body.metadata as Fields).continue);
      await talk.get(`${talk.in("configmaps")}?limit=2&continue=${encodeURIComponent(onwards)}`).then(hideToken(talk, onwards));
      await talk.get(`${talk.in("configmaps")}?resourceVersion=1&resourceVersionMatch=Exact`, 410);
    },
  },
  {
    name: "a limit with a selector does not count what remains",
    async run(talk) {
      await five(talk);
      await talk.get(`${talk.in("configmaps")}?limit=1&labelSelector=app`);
    },
  },
  {
    name: "a continue token that is none is refused, and so is a limit that is no number",
    async run(talk) {
      await talk.get(`${talk.in("configmaps")}?continue=zzz`, 400);
      await talk.get(`${talk.in("configmaps")}?limit=abc`, 400);
    },
  },
  {
    name: "a list at an exact version shows the past",
    async run(talk) {
      const created = await talk.post(talk.in("configmaps"), { metadata: { name: "a" }, data: { x: "1" } });
      await talk.patch("merge", `${talk.in("configmaps")}/a`, { data: { x: "2" } });
      await talk.post(talk.in("configmaps"), { metadata: { name: "b" } });
      const path = `${talk.in("configmaps")}?resourceVersion=${versionOf(created)}&resourceVersionMatch=Exact`;
      await talk.get(path);
      talk.transcript.at(-1)!.said = "GET at the version of the create";
    },
  },
  {
    name: "versions that make no sense are refused",
    async run(talk) {
      await talk.get(`${talk.in("configmaps")}?resourceVersion=abc`, 400);
      await talk.get(`${talk.in("configmaps")}?resourceVersionMatch=Exact`, 422);
      await talk.get(`${talk.in("configmaps")}?resourceVersion=5&resourceVersionMatch=Bogus`, 422);
      await talk.get(`${talk.in("configmaps")}?resourceVersion=0&resourceVersionMatch=Exact`, 422);
    },
  },
  {
    name: "a version of the future times out",
    async run(talk) {
      await talk.get(`${talk.in("configmaps")}?resourceVersion=99999999`, 504);
    },
  },
  {
    name: "version 0 lists from the cache and knows no pages",
    async run(talk) {
      await five(talk);
      // The cache may be behind what was written; a list of the newest waits until it is not.
      await talk.get(talk.in("configmaps"));
      await talk.get(`${talk.in("configmaps")}?resourceVersion=0&limit=2`);
    },
  },
];

/** The token is in the path that was said; it differs from run to run. */
function hideToken(talk: Talk, token: string) {
  return <T>(reply: T): T => {
    const last = talk.transcript.at(-1)!;
    last.said = last.said.replace(encodeURIComponent(token), "(continue)");
    return reply;
  };
}
