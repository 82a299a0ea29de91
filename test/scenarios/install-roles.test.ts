/** The shipped roles against what each part of the program really asks of the API server: nothing is missing, nothing is for nothing. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { parseAllDocuments } from "yaml";
import type { PolicyRule } from "../../src/kube/types.ts";
import "../../src/nodes/lifecycle.ts";
import "../../src/nodes/tagging.ts";
import "../../src/routes/controller.ts";
import { type CanonicalName, controllerNames } from "../../src/commands/controller-manager/controller-names.ts";
import { accessReviews } from "../../src/kube/access-reviews.ts";
import { readAuthenticationConfig } from "../../src/kube/authentication-config.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { loadKubeConfig } from "../../src/kube/config/load.ts";
import { openGate } from "../../src/runtime/gate.ts";
import type { HttpRequest } from "../../src/runtime/http.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import type { EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { testHost } from "../bed/bed.ts";
import { type NodeWorld, nodeWorld } from "../bed/node-world.ts";
import { serviceWorld } from "../bed/service-world.ts";

const minute = 60_000;
const manager = "fairlead-controller-manager";

/** `patch nodes/status`, or `get leases.coordination.k8s.io cloud-controller-manager` where a rule is limited to names. */
function grantsOf(rule: PolicyRule): readonly string[] {
  const { apiGroups = [], resources = [], resourceNames = [], verbs } = rule;
  return verbs.flatMap((verb) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((name) => {
        const grant = `${verb} ${kindText(name, group)}`;
        return resourceNames.length === 0 ? [grant] : resourceNames.map((each) => `${grant} ${each}`);
      }),
    ),
  );
}

function kindText(resource: string, group: string): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** What each role grants, as the manifests lie in the repository: by the role's name after the program's. */
const shipped = ["rbac", "service-account-credentials"]
  .flatMap((file) => parseAllDocuments(readFileSync(new URL(`../../deploy/manifests/${file}.yaml`, import.meta.url), "utf8")))
  .map((document) => document.toJS() as { kind: string; metadata: { name: string }; rules?: PolicyRule[] })
  .filter(({ kind }) => kind === "Role" || kind === "ClusterRole")
  .map(({ kind, metadata, rules = [] }) => [`${kind}${metadata.name.slice(manager.length)}`, new Set(rules.flatMap(grantsOf))] as const);

const roles: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...shipped,
  // Made by every API server, and bound to us: the trust it publishes is not readable otherwise.
  ["extension-apiserver-authentication-reader", new Set(["get configmaps extension-apiserver-authentication"])],
]);

/** A request as roles know it; undefined for what everybody may ask (`/version`). */
function attemptOf({ method, url }: HttpRequest): { readonly general: string; readonly named: string } | undefined {
  const path = /^\/(?:api|apis\/([^/]+))\/v1\/(?:namespaces\/[^/]+\/)?([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/.exec(url.pathname);
  if (path === null) return undefined;
  const [, group = "", plural = "", name, subresource] = path;
  const verb = method === "GET" && name === undefined ? (url.searchParams.has("watch") ? "watch" : "list") : verbs[method];
  const general = `${verb} ${kindText([plural, subresource].filter(Boolean).join("/"), group)}`;
  return { general, named: `${general} ${name}` };
}

const verbs: Readonly<Record<string, string>> = { GET: "get", POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };
const controllerClients: ReadonlySet<string> = new Set(Object.values(controllerNames).map(({ client }) => client));

/** What was asked of a cluster, by the role that must allow it. */
class Overheard {
  readonly #used = new Map<string, Set<string>>();

  /** Listens to a cluster whose controller manager runs one controller. */
  listen(cluster: EmbeddedCluster, controller: CanonicalName): void {
    const match = (request: HttpRequest) => {
      const client = /^fairlead\/.*[/:]([\w-]+)$/.exec(request.headers["user-agent"] ?? "")?.[1];
      const attempt = client && attemptOf(request);
      if (attempt) this.#note(controllerClients.has(client) && !/ serviceaccounts/.test(attempt.general) ? controller : undefined, attempt);
      return false;
    };
    cluster.faults.add({ match, effect: { kind: "hang" } });
  }

  #note(controller: CanonicalName | undefined, { general, named }: { readonly general: string; readonly named: string }): void {
    const role = controller === undefined ? processRole(general) : `ClusterRole:${controller}`;
    const granted = roles.get(role);
    const used = this.#used.get(role) ?? new Set();
    this.#used.set(role, used.add(granted?.has(named) ? named : general));
  }

  /** What was used of each role, and what was granted. */
  compared(): readonly [used: unknown, granted: unknown] {
    const sorted = (sets: ReadonlyMap<string, ReadonlySet<string>>) =>
      Object.fromEntries([...sets].map(([role, grants]) => [role, [...grants].sort()] as const).sort());
    return [sorted(this.#used), sorted(roles)];
  }
}

/** The role that the process itself must have for this. */
function processRole(grant: string): string {
  if (grant.includes(" leases.")) return "Role";
  if (grant.includes(" configmaps")) return "extension-apiserver-authentication-reader";
  return grant.includes(" serviceaccounts") ? "Role-service-accounts" : "ClusterRole";
}

/** The first change of a Node by this client meets another's, so that it has to be read again. */
function conflictOnce({ faults }: EmbeddedCluster): void {
  const match = ({ method, url, headers }: HttpRequest) =>
    method === "PATCH" && /^\/api\/v1\/nodes\/[^/]+$/.test(url.pathname) && headers["user-agent"]!.startsWith("fairlead/");
  faults.add({ match, effect: { kind: "refuse", status: 409 }, times: 1 });
}

/** API servers before 1.34 do not stream lists. */
function withoutStreams({ faults }: EmbeddedCluster): void {
  faults.add({ match: ({ url }) => url.searchParams.has("sendInitialEvents"), effect: { kind: "refuse", status: 422 } });
}

async function nodesUnder(t: TestContext, overheard: Overheard, controller: CanonicalName): Promise<NodeWorld> {
  const world = await nodeWorld();
  t.after(() => world.close());
  overheard.listen(world.cluster, controller);
  return world;
}

const scenarios: Readonly<Record<CanonicalName, (t: TestContext, overheard: Overheard) => Promise<void>>> = {
  async "cloud-node-controller"(t, overheard) {
    const world = await nodesUnder(t, overheard, "cloud-node-controller");
    world.aws.controls.deny("ec2:DescribeInstances");
    world.start("--controllers=cloud-node-controller", "--leader-elect=true", "--use-service-account-credentials");
    const [instance] = world.launch(1) as [Instance];
    const name = await world.join(instance);
    await world.until("a failure is told twice", () => world.cluster.objects("events").some((event) => Number(event.count) > 1));
    world.aws.controls.change({ policy: [{ effect: "allow", actions: ["*"] }] });
    conflictOnce(world.cluster);
    await world.until("it is initialised", () => world.isInitialized(name) && world.node(name)!.status!.addresses!.length > 0);
  },
  async "cloud-node-lifecycle-controller"(t, overheard) {
    const world = await nodesUnder(t, overheard, "cloud-node-lifecycle-controller");
    const [instance] = world.launch(1) as [Instance];
    const name = await world.join(instance, { taints: [], ready: "False" });
    conflictOnce(world.cluster);
    world.setState(instance.id, "stopped");
    const asOthers = ["--leader-elect=true", "--enable-leader-migration", "--use-service-account-credentials"];
    world.start("--controllers=cloud-node-lifecycle-controller", ...asOthers);
    await world.until("it is marked", () => world.hasTaint(name, "node.cloudprovider.kubernetes.io/shutdown"));
    world.setState(instance.id, "terminated");
    await world.until("it is deleted", () => world.node(name) === undefined);
  },
  async "node-route-controller"(t, overheard) {
    const world = await nodesUnder(t, overheard, "node-route-controller");
    const [instance] = world.launch(1) as [Instance];
    const name = await world.join(instance, { taints: [] });
    await world.say("PATCH", `/api/v1/nodes/${name}`, { spec: { podCIDR: "10.200.0.0/24", podCIDRs: ["10.200.0.0/24"] } });
    world.start("--controllers=node-route-controller", "--cluster-cidr=10.200.0.0/16", "--use-service-account-credentials");
    const routed = () => world.node(name)?.status?.conditions?.some(({ reason }) => reason === "RouteCreated") ?? false;
    await world.until("it has its route", routed);
  },
  async tagging(t, overheard) {
    const world = await nodesUnder(t, overheard, "tagging");
    const [instance] = world.launch(1) as [Instance];
    const name = await world.join(instance, { taints: [] });
    conflictOnce(world.cluster);
    world.start("--controllers=tagging", "--tags=team=a", "--use-service-account-credentials");
    await world.until("it is labelled", () => world.node(name)?.metadata?.labels?.["k8s.io/cloud-provider-aws"] !== undefined);
    await world.say("DELETE", `/api/v1/nodes/${name}`);
    await world.until("its tags are gone", () => world.instance(instance.id).tags.team === undefined);
  },
  async "service-lb-controller"(t, overheard) {
    const world = await serviceWorld();
    t.after(() => world.close());
    overheard.listen(world.cluster, "service-lb-controller");
    withoutStreams(world.cluster);
    world.start("--use-service-account-credentials");
    for (const [name, type] of Object.entries({ classic: "", network: "nlb" })) {
      await world.create(name, { annotations: type === "" ? {} : { type } });
      await world.published(name);
      await world.delete(name);
      await world.gone(name, 10 * minute);
    }
  },
};

/** A dry run has a lease of its own. */
async function dryRun(t: TestContext, overheard: Overheard): Promise<void> {
  const world = await nodesUnder(t, overheard, "tagging");
  world.start("--controllers=tagging", "--tags=team=a", "--leader-elect=true", "--dry-run");
  await world.world.advance(minute);
}

/** Somebody asks for metrics. */
async function askedForMetrics(t: TestContext, overheard: Overheard): Promise<void> {
  const { cluster, world } = await nodesUnder(t, overheard, "tagging");
  const config = await loadKubeConfig(world, { kubeconfig: "", master: "http://cluster" });
  const connect = () => ({ send: cluster.send, close: async () => {} });
  const agent = "fairlead/v0 (linux/amd64) kubernetes/x/authentication";
  const client = new KubeClient({ host: testHost(world), config, gate: openGate(), userAgent: agent, connect });
  const reviews = accessReviews(client);
  const signal = new AbortController().signal;
  await reviews.authenticate("a-token", signal);
  await reviews.authorize({ name: "prometheus", groups: [] }, "/metrics", "get", signal);
  await readAuthenticationConfig(client);
}

test("every rule of the roles is used, and everything that is asked for is in them", async (t) => {
  const overheard = new Overheard();
  for (const scenario of [...Object.values(scenarios), dryRun, askedForMetrics]) await scenario(t, overheard);
  const [used, granted] = overheard.compared();
  assert.deepEqual(used, granted);
});
