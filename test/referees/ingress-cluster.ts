/** A real cluster of three nodes with pods in a simulated AWS, and the reference's load balancer controller in charge, or ours. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { endpointSlices, namespaces, nodes, pods, services } from "../../src/kube/builtin.ts";
import { realWorld } from "../../src/runtime/world.ts";
import type { Probe } from "../../src/sandbox/cloud/account.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { JournalEntry } from "../../src/sandbox/cloud/controls/journal.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { launchNodes, type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { type Account, type Bed, bed, eventually, type TestCluster } from "../bed/bed.ts";
import { installDefinitions } from "../bed/definitions.ts";
import { endpointFlag, placeFlags, webhookFlags } from "./balancer-flags.ts";
import { referenceLoadBalancerController } from "./reference.ts";

export const clusterName = "judged";
const patienceMs = 240_000;
/** Nobody has asked AWS anything for so long: whoever is in charge has nothing left to do. */
const quietMs = 4_000;
/** Both wait for AWS at some of its doors. */
const speed = 60;
/** How many pods are behind each Service. */
const podsPerService = 2;

/** A controller that runs. */
export interface InCharge {
  /** The errors in its log so far. */
  errors(): Promise<readonly string[]>;
  /** Ends it, as if another took its place. */
  stop(): Promise<void>;
}

export interface IngressCluster {
  readonly cluster: TestCluster;
  readonly cloud: Cloud;
  readonly network: Network;
  /** Its nodes. */
  readonly instances: readonly Instance[];
  /** Whom ours acts as. */
  readonly account: Account;
  reference(...flags: readonly string[]): Promise<InCharge>;
  ours(...flags: readonly string[]): Promise<InCharge>;
  /** A namespace with the Services that Ingresses name, and pods behind them. */
  namespace(name: string): Promise<void>;
  /** Resolves when nobody asks AWS anything any more, and at least so many calls were made since `before`. */
  quiet(since?: { readonly calls: number; readonly atLeast: number }): Promise<void>;
  /** How many calls were made so far. */
  calls(): number;
  /** Calls that changed something, or could have, since this many of them. */
  mutations(since: number): readonly JournalEntry[];
}

/** Ports of a Service by name, each with the port of its pods. */
export const serviceTable: Readonly<Record<string, { readonly type: "ClusterIP" | "NodePort"; readonly ports: Ports }>> = {
  web: { type: "ClusterIP", ports: { http: [80, 8080], admin: [9000, 9000] } },
  api: { type: "ClusterIP", ports: { http: [80, "web"] } },
  node: { type: "NodePort", ports: { http: [80, 8080], admin: [9000, 9000] } },
};

type Ports = Readonly<Record<string, readonly [number, number | string]>>;

/** Everything but the controllers, which a test starts itself. */
export async function ingressCluster(t: TestContext, { probe }: { readonly probe?: Probe } = {}): Promise<IngressCluster> {
  const lain = await bed(t);
  const { cluster } = lain;
  await installDefinitions(cluster.admin);
  const cloud = createCloud({
    world: realWorld(),
    ...(probe && { probe }),
    // The reference comes back to a load balancer that is not active yet after minutes.
    settings: { speed, provisioningMs: 0 },
  });
  cloud.controls.change({ quotas: { ...cloud.account.settings().quotas, applicationLoadBalancers: 500, networkLoadBalancers: 500 } });
  const network = standardNetwork(cloud, { clusterId: clusterName, ipv6: true });
  const instances = launchNodes(cloud, network, 3).map(({ id }) => cloud.account.ec2.instances.update(id, { state: "running" }));
  for (const [index, instance] of instances.entries()) await registerNode(cluster, instance, index);
  const served = await serve(cloud);
  t.after(() => served.close());
  const account = await cluster.account("in-charge", { apiGroups: ["*"], resources: ["*"], verbs: ["*"] });
  const calls = () => Object.values(cloud.controls.journal.counts()).reduce((sum, results) => sum + total(results), 0);
  let made = 0;
  return {
    cluster,
    cloud,
    network,
    instances,
    account,
    reference: (...flags) => startReference(t, cluster, { cloud, network, url: served.url, flags }),
    ours: (...flags) => startOurs(lain, account, { cloud, network, url: served.url, flags }),
    async namespace(name) {
      if (name !== "default") await cluster.admin.create(namespaces, { metadata: { name } });
      for (const service of Object.keys(serviceTable)) {
        const members = Array.from({ length: podsPerService }, () => ({ number: made, node: instances[made++ % instances.length]! }));
        await fillService(cluster, cloud, name, service, members);
      }
    },
    async quiet(since = { calls: 0, atLeast: 0 }) {
      let last = -1;
      let at = performance.now();
      await eventually(() => {
        const now = calls();
        if (now !== last) at = performance.now();
        last = now;
        assert.ok(now - since.calls >= since.atLeast, `only ${now - since.calls} calls of ${since.atLeast} were made`);
        assert.ok(performance.now() - at > quietMs, "somebody still asks");
      }, patienceMs);
    },
    calls,
    mutations: (since) => cloud.controls.journal.entries().slice(since),
  };
}

const total = (results: Readonly<Record<string, number>>) => Object.values(results).reduce((sum, count) => sum + count, 0);

const environment = { AWS_ACCESS_KEY_ID: "AKIAREFERENCE", AWS_SECRET_ACCESS_KEY: "of-no-worth", AWS_EC2_METADATA_DISABLED: "true" };

/** How often the reference was started. */
let started = 0;

interface Place {
  readonly cloud: Cloud;
  readonly network: Network;
  readonly url: string;
  readonly flags: readonly string[];
}

const commonFlags = (network: Network, cloud: Cloud) => [
  ...placeFlags({ clusterName, region: cloud.account.region, vpc: network.vpcId }),
  "--metrics-bind-addr=0",
];

/** Its own limits of calls per second would make every test of it take minutes. */
const unthrottled = ["Elastic Load Balancing v2", "WAFV2", "WAF Regional"].map((service) => `${service}:.*=1000:1000`).join(",");

async function startReference(t: TestContext, cluster: TestCluster, { cloud, network, url, flags }: Place): Promise<InCharge> {
  const program = await referenceLoadBalancerController();
  const { folder, supervision, admin } = cluster.real;
  const log = join(folder, `load-balancer-controller-${started++}.log`);
  const child = await supervision.start(
    program,
    [
      ...commonFlags(network, cloud),
      `--kubeconfig=${await cluster.kubeconfigWith("reference", admin)}`,
      ...(await webhookFlags(cluster)),
      endpointFlag(url),
      `--aws-api-throttle=${unthrottled}`,
      "--ingress-max-concurrent-reconciles=4",
      ...flags,
    ],
    {
      log,
      folder,
      environment: { HOME: folder, ...environment },
    },
  );
  const stop = async () => {
    child.signal("SIGKILL");
    await child.exit();
  };
  t.after(stop);
  // It writes a line of JSON per event; a panic, and a flag that it does not know, are plain text.
  const isError = (line: string) => /"level":"(error|dpanic|panic|fatal)"|^panic:|^E\d{4} |unknown flag/.test(line);
  return { stop, errors: async () => (await readFile(log, "utf8")).split("\n").filter(isError) };
}

/** As a process of its own: that it ends when it is asked to is part of handing over. */
async function startOurs({ fairlead }: Bed, account: Account, { cloud, network, url, flags }: Place): Promise<InCharge> {
  const args = [
    "load-balancer-controller",
    ...commonFlags(network, cloud),
    endpointFlag(url),
    `--kubeconfig=${await account.kubeconfig()}`,
    "--ingress-max-concurrent-reconciles=4",
    ...flags,
  ];
  const process = await fairlead(args, { environment });
  return {
    errors: async () => (await process.logs()).split("\n").filter((line) => /"level":"(error|fatal)"/.test(line)),
    async stop() {
      process.signal("SIGTERM");
      await process.exit();
    },
  };
}

async function registerNode(cluster: TestCluster, instance: Instance, index: number): Promise<void> {
  const { privateDnsName: name, zone, id } = instance;
  await cluster.admin.create(nodes, {
    metadata: { name, labels: { "topology.kubernetes.io/zone": zone, "kubernetes.io/os": "linux", pool: index === 0 ? "front" : "back" } },
    spec: { providerID: `aws:///${zone}/${id}` },
  });
  // Admission taints every new Node as not ready; on a live cluster kube-controller-manager takes that away again.
  await cluster.admin.patch(nodes, { name }, { merge: { spec: { taints: null } } });
  const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }];
  await cluster.admin.patch(nodes, { name, subresource: "status" }, { merge: { status: { conditions } } });
}

export interface Member {
  readonly number: number;
  readonly node: Instance;
  /** What stands between the name of what made the pod and its number. */
  readonly replicaSet?: string;
}

async function fillService(cluster: TestCluster, cloud: Cloud, namespace: string, name: string, members: readonly Member[]): Promise<void> {
  const { type, ports } = serviceTable[name]!;
  await cluster.admin.create(services, {
    metadata: { name, namespace },
    spec: {
      type,
      selector: { app: name },
      ports: Object.entries(ports).map(([portName, [port, targetPort]]) => ({ name: portName, port, targetPort })),
    },
  });
  const made = await Promise.all(members.map((member) => makePod(cluster, cloud, namespace, name, member)));
  await cluster.admin.create(endpointSlices, {
    metadata: { name: `${name}-1`, namespace, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: Object.entries(ports).map(([portName, [, target]]) => ({
      name: portName,
      port: typeof target === "number" ? target : namedPort,
      protocol: "TCP",
    })),
    endpoints: made.map(({ pod, address, node }) => ({
      addresses: [address],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: node,
      targetRef: { kind: "Pod", namespace, name: pod },
    })),
  });
}

/** What containers call `web`. */
const namedPort = 8081;

/** With an address of its node's interface, as the VPC's network plugin gives it one. */
export async function makePod(
  cluster: TestCluster,
  cloud: Cloud,
  namespace: string,
  service: string,
  { number, node, replicaSet }: Member,
) {
  const { ec2 } = cloud.account;
  const own = [...ec2.interfaces.values()].find(({ attachment }) => attachment?.instanceId === node.id)!;
  const subnet = ec2.subnets.get(own.subnetId)!;
  const address = ec2.pools.take(subnet.id, subnet.cidr!);
  ec2.interfaces.update(own.id, { privateAddresses: [...own.privateAddresses, address] });
  const pod = [service, replicaSet ?? [], number].flat().join("-");
  await cluster.admin.create(pods, {
    metadata: { name: pod, namespace, labels: { app: service } },
    spec: {
      nodeName: node.privateDnsName,
      automountServiceAccountToken: false,
      containers: [{ name: "c", image: "c:1", ports: [{ name: "web", containerPort: namedPort }] }],
    },
  });
  const conditions = ["Initialized", "PodScheduled", "ContainersReady", "Ready"].map((type) => ({ type, status: "True" }));
  const status = { phase: "Running", podIP: address, podIPs: [{ ip: address }], conditions };
  await cluster.admin.patch(pods, { namespace, name: pod, subresource: "status" }, { merge: { status } });
  return { pod, address, node: node.privateDnsName };
}

/** Actions that were asked for and that the cloud does not have. */
export function unmodelled({ cloud }: Pick<IngressCluster, "cloud">): readonly string[] {
  return Object.entries(cloud.controls.journal.counts()).flatMap(([action, results]) => ("InvalidAction" in results ? [action] : []));
}
