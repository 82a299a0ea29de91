/** Exchanges about tables and discovery. */
import type { Exchange, Fields, Talk } from "./talk.ts";

/** Ages differ by the second: everything in the Age column becomes one word. */
function withoutAges(talk: Talk): void {
  const table = talk.transcript.at(-1)!.answer as { columnDefinitions: Fields[]; rows: { cells: unknown[] }[] };
  const ages = table.columnDefinitions.flatMap(({ name }, i) => (["Age", "Last Seen", "First Seen"].includes(String(name)) ? [i] : []));
  for (const row of table.rows) for (const i of ages) row.cells[i] = /^\d+s$/.test(String(row.cells[i])) ? "(age)" : row.cells[i];
}

async function table(talk: Talk, path: string): Promise<void> {
  await talk.table(path);
  withoutAges(talk);
}

export const shapeExchanges: readonly Exchange[] = [
  {
    name: "the table of Nodes",
    async run(talk) {
      const name = talk.namespace;
      await talk.post("/api/v1/nodes", {
        metadata: { name, labels: { "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/edge": "", of: name } },
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: "Ready", status: "False" }],
          addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
          nodeInfo: { kubeletVersion: "v1.36.0", osImage: "Linux", kernelVersion: "6", containerRuntimeVersion: "containerd://2" },
        },
      });
      await talk.post("/api/v1/nodes", {
        metadata: { name: `${name}-2`, labels: { of: name } },
        status: { conditions: [{ type: "Ready", status: "True" }] },
      });
      await table(talk, `/api/v1/nodes?labelSelector=of%3D${name}`);
      await table(talk, `/api/v1/nodes/${name}`);
      await talk.delete(`/api/v1/nodes/${name}`);
      await talk.delete(`/api/v1/nodes/${name}-2`);
    },
  },
  {
    name: "the table of Services",
    async run(talk) {
      const path = talk.in("services");
      await talk.post(path, {
        metadata: { name: "a" },
        spec: { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, ports: [{ port: 80 }] },
      });
      await talk.patch("merge", `${path}/a/status`, { status: { loadBalancer: { ingress: [{ hostname: "lb.example" }] } } });
      await talk.post(path, {
        metadata: { name: "b" },
        spec: { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, ports: [{ port: 80 }] },
      });
      await talk.post(path, {
        metadata: { name: "c" },
        spec: { clusterIP: "None", selector: { x: "y" }, ports: [{ port: 53, protocol: "UDP" }] },
      });
      await talk.post(path, { metadata: { name: "d" }, spec: { type: "ExternalName", externalName: "a.example" } });
      await table(talk, path);
    },
  },
  {
    name: "the tables of Pods, Events and Leases",
    async run(talk) {
      await talk.post(talk.in("pods"), { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }], nodeName: "n1" } });
      await table(talk, talk.in("pods"));
      await talk.post(talk.in("events"), {
        metadata: { name: "e" },
        involvedObject: { kind: "Pod", name: "p", namespace: talk.namespace },
        type: "Warning",
        reason: "Failed",
        message: "it failed",
        source: { component: "us" },
        count: 3,
      });
      await table(talk, talk.in("events"));
      const leases = talk.in("leases", "coordination.k8s.io/v1");
      await talk.post(leases, { metadata: { name: "l" }, spec: { holderIdentity: "me" } });
      await table(talk, leases);
    },
  },
  {
    name: "the tables of ConfigMaps, Secrets, ServiceAccounts and Ingresses",
    async run(talk) {
      await talk.post(talk.in("configmaps"), { metadata: { name: "c" }, data: { a: "1", b: "2" } });
      await talk.post(talk.in("secrets"), { metadata: { name: "s" }, stringData: { a: "1" } });
      await talk.post(talk.in("serviceaccounts"), { metadata: { name: "sa" } });
      const ingresses = talk.in("ingresses", "networking.k8s.io/v1");
      const service = { name: "s", port: { number: 80 } };
      await talk.post(ingresses, {
        metadata: { name: "i" },
        spec: {
          ingressClassName: "alb",
          tls: [{ hosts: ["a.example"] }],
          rules: [{ host: "a.example", http: { paths: [{ path: "/", pathType: "Prefix", backend: { service } }] } }],
        },
      });
      for (const path of [talk.in("configmaps"), talk.in("secrets"), talk.in("serviceaccounts"), ingresses]) await table(talk, path);
    },
  },
  {
    name: "discovery of a group version names its resources",
    async run(talk) {
      for (const path of ["/apis/coordination.k8s.io/v1", "/apis/discovery.k8s.io/v1"]) {
        await talk.get(path);
        const list = talk.transcript.at(-1)!.answer as { resources: Fields[] };
        list.resources = list.resources.map(({ storageVersionHash: _, ...resource }) => resource);
      }
      await talk.get("/apis/coordination.k8s.io");
      await talk.get("/apis/nobody.example/v1", 404);
    },
  },
  {
    name: "health is plain text",
    async run(talk) {
      for (const path of ["/healthz", "/livez", "/readyz"]) await talk.get(path);
    },
  },
];
