/** Exchanges about evictions and disruption budgets. */
import type { Exchange, Fields, Talk } from "./talk.ts";

const pod = (name: string, labels: Fields = { app: "web" }): Fields => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels },
  spec: {
    nodeName: "a-node",
    terminationGracePeriodSeconds: 30,
    automountServiceAccountToken: false,
    containers: [{ name: "c", image: "i:1" }],
  },
});
const budget = (name: string, more: Fields = {}): Fields => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name },
  spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } }, ...more },
});
const eviction = (name: string, more: Fields = {}): Fields => ({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name }, ...more });

function paths(talk: Talk) {
  const pods = `/api/v1/namespaces/${talk.namespace}/pods`;
  const budgets = `/apis/policy/v1/namespaces/${talk.namespace}/poddisruptionbudgets`;
  return {
    pods,
    budgets,
    run: (name: string) =>
      talk.patch("merge", `${pods}/${name}/status`, {
        status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
      }),
    allow: (name: string, disruptionsAllowed: number) =>
      talk.patch("merge", `${budgets}/${name}/status`, {
        status: { observedGeneration: 1, disruptionsAllowed, currentHealthy: 1 + disruptionsAllowed, desiredHealthy: 1, expectedPods: 2 },
      }),
  };
}

export const evictionExchanges: readonly Exchange[] = [
  {
    name: "an eviction deletes a pod with its grace period, or with the one it is given",
    async run(talk) {
      const { pods, run } = paths(talk);
      for (const name of ["own", "given"]) {
        await talk.post(pods, pod(name));
        await run(name);
      }
      await talk.post(`${pods}/own/eviction`, eviction("own"));
      await talk.get(`${pods}/own`);
      await talk.post(`${pods}/given/eviction`, eviction("given", { deleteOptions: { gracePeriodSeconds: 5 } }));
      await talk.get(`${pods}/given`);
      await talk.post(`${pods}/missing/eviction`, eviction("missing"), 404);
      await talk.post(`${pods}/own/eviction`, eviction("other"), 400);
    },
  },
  {
    name: "a disruption budget lets as many go as it allows, and counts them",
    async run(talk) {
      const { pods, budgets, run, allow } = paths(talk);
      await talk.post(budgets, budget("web"));
      for (const name of ["first", "second"]) {
        await talk.post(pods, pod(name));
        await run(name);
      }
      await talk.post(`${pods}/first/eviction`, eviction("first"), 429);
      await allow("web", 1);
      await talk.post(`${pods}/first/eviction`, eviction("first"));
      await talk.post(`${pods}/second/eviction`, eviction("second"), 429);
      await talk.post(`${pods}/first/eviction`, eviction("first"));
    },
  },
  {
    name: "pods that have not begun go whatever the budget says, and those of two budgets do not",
    async run(talk) {
      const { pods, budgets, run, allow } = paths(talk);
      await talk.post(budgets, budget("web"));
      await allow("web", 0);
      await talk.post(pods, pod("pending"));
      await talk.post(`${pods}/pending/eviction`, eviction("pending"));
      await talk.post(budgets, budget("also"));
      await talk.post(pods, pod("running"));
      await run("running");
      await talk.post(`${pods}/running/eviction`, eviction("running"), 500);
      await talk.post(pods, pod("other", { app: "other" }));
      await run("other");
      await talk.post(`${pods}/other/eviction`, eviction("other"));
    },
  },
];
