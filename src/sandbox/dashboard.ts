/** The dashboard of the sandbox: what `fairlead dashboard` shows of any cluster, with the replicas' own word on what they do. */
import { endpoint, planner, remedies } from "../commands/dashboard.ts";
import { liveFlags, openLive } from "../commands/live.ts";
import { type Dashboard, openDashboard } from "../dashboard/dashboard.ts";
import { parseFlags } from "../runtime/flags.ts";
import { accountToken, applyManifest } from "./manifests.ts";
import type { Sandbox } from "./sandbox.ts";

/** Who looks at the replicas: nothing but what they are doing. */
const reader = `apiVersion: v1
kind: ServiceAccount
metadata:
  name: fairlead-dashboard
  namespace: kube-system
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: fairlead-dashboard
rules:
  - nonResourceURLs: ["/debug/fairlead/*"]
    verbs: ["get"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: fairlead-dashboard
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: fairlead-dashboard
subjects:
  - kind: ServiceAccount
    name: fairlead-dashboard
    namespace: kube-system
`;

/** Serves until the signal aborts. */
export async function openSandboxDashboard(sandbox: Sandbox, signal: AbortSignal): Promise<Dashboard> {
  const { kube, replicas, access } = sandbox;
  const world = { ...sandbox.world, environment: { ...sandbox.world.environment, ...access.variables } };
  await applyManifest(kube, reader);
  const headers = { authorization: `Bearer ${await accountToken(kube, "kube-system", "fairlead-dashboard")}` };
  // As the replicas are told: before the first Node there is nothing to find it out from.
  const where = [`--cloud-config=${access.cloudConfig}`];
  const live = await openLive(parseFlags(liveFlags, where).values, world, "fairlead dashboard", signal);
  const dashboard = await openDashboard(
    {
      world,
      live,
      remedies,
      port: 0,
      endpoints: () => replicas.list().map(({ url }) => endpoint(url, true, async () => ({ headers }), world.clock)),
      plan: planner(where, world, {}),
    },
    signal,
  );
  const close = async () => {
    await dashboard.close();
    await live.close();
  };
  return { ...dashboard, close };
}
