/**
 * Gateways change hands between the reference's load balancer controller and ours without a single change, and what ours makes and says is,
 * part by part, what the reference makes and says.
 *
 * Where the two differ, and ours is as it should be:
 * - The reference sends rules with a log-in, rules with a regular expression for a path, and listeners that verify clients and leave open
 *   whether names of authorities are shown, with every look. Ours sends them when they have changed.
 * - Ours notes on a Gateway that all of its load balancer was as wanted and, where it has a log-in, which state of its Secret AWS has: in
 *   annotations that mean nothing to the reference.
 * - Ours shows on a TargetGroupBinding how many targets it has and whether they are all there, and on a class which features it supports: fields
 *   and conditions that the reference has not.
 * - What the reference does otherwise in its releases since this version is not judged here; docs/gateways.md lists it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CreateSubscriptionCommand, ShieldClient } from "@aws-sdk/client-shield";
import { endpointSlices, secrets, services } from "../../src/kube/builtin.ts";
import { isApiError } from "../../src/kube/errors.ts";
import type { KubeObject, Resource } from "../../src/kube/resource.ts";
import { gatewayClasses, gateways, listenerRuleConfigurations } from "../../src/loadbalancers/gateway/api.ts";
import { flavours } from "../../src/loadbalancers/gateway/flavours.ts";
import { checkpointAnnotation } from "../../src/loadbalancers/gateway/states.ts";
import { targetGroupBindings } from "../../src/loadbalancers/targets/binding.ts";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { eventually } from "../bed/bed.ts";
import { configurationDefinitions } from "../bed/gateway-definitions.ts";
import { installGatewayApi } from "./gateway-cluster.ts";
import { configurationsOf, gatewaysOf, judgedGateways } from "./gateway-objects.ts";
import { kinds, objectsOf, prefixes, saidOf } from "./gateway-said.ts";
import { classOf, type GatewayGiven, oidcSecret } from "./gateway-table.ts";
import { type InCharge, type IngressCluster, ingressCluster, unmodelled } from "./ingress-cluster.ts";
import { callsFor, changes, left, settled, stateOf, userOf } from "./judged-account.ts";

const patienceMs = 240_000;
const common = ["--alb-gateway-max-concurrent-reconciles=6", "--nlb-gateway-max-concurrent-reconciles=6"];
const theirFlags = [...common, "--targetgroupbinding-max-concurrent-reconciles=8"];
/** Leads to another Gateway, which has to stand first. */
const leadsOn = ["chain"];

test("Gateways change hands, and back, and neither can tell who made them", { timeout: 1_200_000 }, async (t) => {
  const judged = await ingressCluster(t);
  const { admin } = judged.cluster;
  judged.cloud.controls.change({ quotas: { ...judged.cloud.account.settings().quotas, addresses: 20 } });
  // The reference of this version follows TCPRoutes and UDPRoutes by the version that they had before v1.
  await installGatewayApi(admin, configurationDefinitions, { serves: ["v1alpha2"] });
  for (const { name, controllerName } of Object.values(flavours))
    await admin.create(gatewayClasses, { metadata: { name }, spec: { controllerName } });
  await new ShieldClient(sdkConfig(judged.cloud)).send(new CreateSubscriptionCommand({}));
  // Names of one length, because names in AWS are cut.
  const theirs = await prepare(judged, "refmade");
  const mine = await prepare(judged, "ourmade");
  const before = judged.cloud.controls.snapshot();
  const at = performance.now();
  const tell = (what: string) => t.diagnostic(`${Math.round((performance.now() - at) / 1000)} s: ${what}`);

  const reference = await judged.reference(...theirFlags);
  await make(judged, theirs, reference);
  await judged.quiet();
  assert.deepEqual(await errorsOf(reference), [], "the reference finds AWS as it knows it");
  assert.deepEqual(unmodelled(judged), []);
  await reference.stop();
  tell("made by the reference");
  const alone = await lookOnce(judged, [theirs]);
  tell(
    `the reference sends of its own: ${alone
      .get(theirs.namespace)
      ?.map((call) => call.split(" ")[0])
      .join(", ")}`,
  );

  const made = judged.cloud.controls.snapshot();
  const objects = await objectsOf(judged);
  const mutations = judged.mutations(0).length;
  const since = { calls: judged.calls(), atLeast: 10 };
  let ours = await judged.ours(...common);
  await judged.quiet(since);
  tell(`taken over ${Object.keys(judgedGateways(theirs)).length} Gateways with ${judged.calls() - since.calls} calls`);
  assert.deepEqual(
    judged.mutations(mutations).map(({ action, input }) => ({ action, input })),
    [],
    "taken over without a call that changes anything",
  );
  assert.deepEqual(changes(judged.cloud, made), []);
  assert.deepEqual(await ours.errors(), []);
  assert.deepEqual(await objectsOf(judged), objects, "taken over without a write that changes anything");
  const unread = (await admin.list(gateways)).items.filter(({ metadata }) => !metadata.annotations?.[checkpointAnnotation]);
  assert.deepEqual(
    unread.map(({ metadata }) => metadata.name),
    [],
    "all of every load balancer was compared with what its Gateway wants",
  );
  await ours.stop();
  assert.deepEqual(await lookOnce(judged, [theirs]), alone, "the reference does with its own what it did before");
  assert.deepEqual(changes(judged.cloud, made), [], "handed back as it was");
  tell("handed back");

  ours = await judged.ours(...common);
  await make(judged, mine, ours);
  await judged.quiet();
  assert.deepEqual(await ours.errors(), []);
  await ours.stop();
  tell("made by ours");
  assert.deepEqual(stateOf(judged.cloud, mine.namespace, prefixes), stateOf(judged.cloud, theirs.namespace, prefixes));
  assert.deepEqual(await saidOf(judged, mine), await saidOf(judged, theirs), "what Fairlead says is what the reference says");
  const state = stateOf(judged.cloud, mine.namespace, prefixes);
  const { calls, reference: last } = await look(judged, [theirs, mine]);
  assert.deepEqual(calls.get(mine.namespace), calls.get(theirs.namespace), "what Fairlead makes is to the reference as its own");
  assert.deepEqual(stateOf(judged.cloud, mine.namespace, prefixes), state);
  await removeAll(judged, mine, last);
  await last.stop();
  tell("removed by the reference");
  ours = await judged.ours(...common);
  await removeAll(judged, theirs, ours);
  await eventually(() => assert.deepEqual(left(judged.cloud, before), []), patienceMs);
  tell("removed by ours");
});

async function prepare({ cluster: { admin }, cloud, network, namespace: fill }: IngressCluster, namespace: string): Promise<GatewayGiven> {
  const far = `${namespace}-far`;
  for (const name of [namespace, far]) await fill(name);
  const user = userOf(cloud, network, namespace);
  await user.securityGroup("side");
  const end = namespace === "refmade" ? 77 : 78;
  const given: GatewayGiven = {
    namespace,
    far,
    subnets: network.privateSubnetIds,
    publicSubnets: network.publicSubnetIds,
    addresses: network.privateSubnetIds.map((id) => cloud.account.ec2.subnets.get(id)!.cidr!.replace(/\.0\/\d+$/, `.${end}`)),
    allocations: await Promise.all(network.publicSubnetIds.map(() => user.allocation())),
    securityGroup: await user.securityGroup("front"),
    securityGroupName: `${namespace}-side`,
    prefixList: "pl-0123456789abcdef0",
    certificates: [await user.certificate("shop.example.com"), await user.certificate("other.example.com", "*.example.com")],
    trustStore: await user.trustStore("trusted"),
    targetGroup: await user.targetGroup("given"),
    webAcl: await user.webAcl("acl"),
  };
  await admin.create(secrets, {
    metadata: { name: oidcSecret, namespace },
    stringData: { clientID: "client", clientSecret: "of-no-worth" },
  });
  // Pods of the Service `web` take datagrams, too.
  const { endpoints } = await admin.get(endpointSlices, { namespace, name: "web-1" });
  const ports = [53, 514].map((port) => ({ name: `p${port}`, port, protocol: "UDP" }));
  await admin.create(services, { metadata: { name: "dns", namespace }, spec: { selector: { app: "web" }, ports } });
  await admin.create(endpointSlices, {
    metadata: { name: "dns-1", namespace, labels: { "kubernetes.io/service-name": "dns" } },
    addressType: "IPv4",
    ports,
    endpoints,
  });
  await admin.create(services, {
    metadata: { name: "local", namespace },
    // Of a class that nobody here serves; only such a Service has a node port for health checks.
    spec: {
      type: "LoadBalancer",
      loadBalancerClass: "example.com/nobody",
      externalTrafficPolicy: "Local",
      selector: { app: "web" },
      ports: [{ port: 80, targetPort: 8080 }],
    },
  });
  await settled(cloud, patienceMs);
  return given;
}

/** Creates all of it, and waits until every Gateway is programmed and every binding is brought about. */
async function make({ cluster: { admin } }: IngressCluster, given: GatewayGiven, by: InCharge): Promise<void> {
  const { namespace, far } = given;
  const isTrue = (type: string, { status }: { readonly status?: { readonly conditions?: readonly { type: string; status: string }[] } }) =>
    status?.conditions?.some((each) => each.type === type && each.status === "True") ?? false;
  const trouble = async () => (await by.errors()).slice(-3).join("\n");
  const create = async (objects: ReturnType<typeof configurationsOf>) => {
    for (const [of, object] of objects) await admin.create(of, object);
  };
  const stand = async () => {
    const waiting = (await admin.list(gateways, { namespace })).items.filter((gateway) => !isTrue("Programmed", gateway));
    const bindings = (await Promise.all([namespace, far].map((each) => admin.list(targetGroupBindings, { namespace: each })))).flatMap(
      ({ items }) => items,
    );
    const late = bindings.filter(({ metadata, status }) => status?.observedGeneration !== metadata.generation);
    assert.deepEqual(
      [...waiting, ...late].map(({ metadata }) => metadata.name),
      [],
      await trouble(),
    );
  };
  await create(configurationsOf(given));
  await eventually(async () => {
    const classes = (await admin.list(gatewayClasses)).items.filter((each) => !isTrue("Accepted", each));
    const rules = (await admin.list(listenerRuleConfigurations, { namespace })).items.filter(({ status }) => status?.accepted !== true);
    assert.deepEqual(
      [...classes, ...rules].map(({ metadata }) => metadata.name),
      [],
      await trouble(),
    );
  }, patienceMs);
  const names = Object.keys(judgedGateways(given));
  await create(
    gatewaysOf(
      given,
      names.filter((name) => !leadsOn.includes(name)),
    ),
  );
  await eventually(stand, patienceMs);
  await create(gatewaysOf(given, leadsOn));
  await eventually(stand, patienceMs);
}

async function removeAll({ cluster: { admin } }: IngressCluster, given: GatewayGiven, by: InCharge): Promise<void> {
  const { namespace, far } = given;
  const listed = async (of: Resource<KubeObject>) =>
    (await Promise.all([namespace, far].map((each) => admin.list(of, { namespace: each })))).flatMap(({ items }) => items);
  const remove = async (of: Resource<KubeObject>) => {
    for (const { metadata } of await listed(of)) {
      await admin.delete(of, { namespace: metadata.namespace!, name: metadata.name }).catch((error: unknown) => {
        if (!isApiError(error, "not-found")) throw error;
      });
    }
    await eventually(async () => {
      const names = (await listed(of)).map(({ metadata }) => metadata.name);
      assert.deepEqual(names, [], (await by.errors()).slice(-3).join("\n"));
    }, patienceMs);
  };
  await remove(gateways);
  await admin.delete(gatewayClasses, { name: classOf(namespace) });
  for (const of of kinds) await remove(of);
  await eventually(async () => assert.deepEqual(await listed(targetGroupBindings as Resource<KubeObject>), []), patienceMs);
}

/** The errors of the reference; that a load balancer is not active yet it logs as one. */
const errorsOf = async (reference: InCharge) =>
  (await reference.errors()).filter((line) => !line.includes("Monitoring provisioning state"));

interface Look {
  /** What the reference sent that could change something, by namespace. */
  readonly calls: ReadonlyMap<string, readonly string[]>;
  readonly reference: InCharge;
}

/** Starts the reference, and lets it look at everything once. */
async function look(judged: IngressCluster, given: readonly GatewayGiven[]): Promise<Look> {
  const mutations = judged.mutations(0).length;
  const since = { calls: judged.calls(), atLeast: 100 };
  const reference = await judged.reference(...theirFlags);
  await judged.quiet(since);
  assert.deepEqual(await errorsOf(reference), []);
  const sent = judged.mutations(mutations);
  return { reference, calls: new Map(given.map(({ namespace }) => [namespace, callsFor(judged.cloud, namespace, sent, prefixes)])) };
}

async function lookOnce(judged: IngressCluster, given: readonly GatewayGiven[]): Promise<Look["calls"]> {
  const { reference, calls } = await look(judged, given);
  await reference.stop();
  return calls;
}
