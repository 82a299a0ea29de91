/** A real cluster of three nodes in a simulated AWS, with the reference controller manager in charge of both. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { nodes } from "../../src/kube/builtin.ts";
import type { Service } from "../../src/kube/types.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { launchNodes, type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { bed, eventually, type TestCluster } from "../bed/bed.ts";
import { booted } from "../bed/booted.ts";
import { referenceControllerManager } from "./reference.ts";

/** What the reference works on, and what it complains of. */
export interface ReferenceCluster {
  readonly cluster: TestCluster;
  readonly cloud: Cloud;
  readonly network: Network;
  readonly instances: readonly Instance[];
  /** The errors in the reference's log so far. */
  errors(): Promise<readonly string[]>;
  /** The cloud config that it is given. */
  readonly configFile: string;
  /** What it has asked of AWS since it was last started, each call as its parameters in order. */
  calls(): readonly string[];
  /** Ends the reference, as if another took its place. */
  stop(): Promise<void>;
  /** Starts it anew. */
  start(): Promise<void>;
}

const clusterId = "judged";
/** The reference waits minutes for AWS at some of its doors. */
const SPEED = 20;

/** Starts all of it; `config` are more lines of the [Global] section. */
export async function referenceCluster(t: TestContext, ...config: readonly string[]): Promise<ReferenceCluster> {
  const program = await referenceControllerManager();
  const { cluster } = await bed(t);
  const cloud = createCloud({ world: realWorld(), settings: { speed: SPEED } });
  const network = standardNetwork(cloud, { clusterId });
  const instances = launchNodes(cloud, network, 3);
  await booted(cloud, instances);
  let calls: string[] = [];
  const served = await serve({
    ...cloud,
    handle: (request) => {
      calls.push(callText(String(request.body ?? "")));
      return cloud.handle(request);
    },
  });
  t.after(() => served.close());
  await Promise.all(instances.map((instance, index) => registerNode(cluster, instance, podBlock(index))));

  const { folder, supervision, admin } = cluster.real;
  const kubeconfig = await cluster.kubeconfigWith("reference", admin);
  const configFile = join(folder, "reference-cloud.conf");
  await writeFile(configFile, cloudConfig(cloud, network, served.url, config));
  const log = join(folder, `reference-${new URL(served.url).port}.log`);
  const environment = {
    HOME: folder,
    AWS_ACCESS_KEY_ID: "AKIAREFERENCE",
    AWS_SECRET_ACCESS_KEY: "of-no-worth",
    AWS_REGION: cloud.account.region,
    AWS_EC2_METADATA_DISABLED: "true",
  };
  const args = [...flags, `--cloud-config=${configFile}`, ...asUser(kubeconfig)];
  const begin = () => supervision.start(program, args, { log, folder, environment });
  let reference = await begin();
  const stop = async () => {
    reference.signal("SIGKILL");
    await reference.exit();
  };
  t.after(stop);
  // A Service that comes while the reference gets to know its nodes can be left without any: it syncs again when a node changes, only.
  await eventually(async () => {
    const { items } = await cluster.admin.list(nodes);
    const fresh = items.filter(({ spec }) => spec?.taints?.some(({ key }) => key === "node.cloudprovider.kubernetes.io/uninitialized"));
    assert.deepEqual(
      fresh.map(({ metadata }) => metadata.name),
      [],
      "all nodes are initialised",
    );
  }, 60_000);
  return {
    cluster,
    cloud,
    network,
    instances,
    configFile,
    stop,
    calls: () => calls,
    async start() {
      calls = [];
      reference = await begin();
    },
    // A line of klog begins with its severity and the date.
    errors: async () => (await readFile(log, "utf8")).split("\n").filter((line) => /^[EF]\d{4} |^panic:/.test(line)),
  };
}

/** The pods' block of the node of this number. */
export function podBlock(number: number): string {
  return `10.200.${number}.0/24`;
}

/** A Service of type LoadBalancer on these ports. */
export function loadBalancerService(
  name: string,
  annotations: Readonly<Record<string, string>> = {},
  ports: Readonly<Record<string, number>> = { http: 80 },
): Service {
  const prefixed = Object.entries(annotations).map(([key, value]) => [`service.beta.kubernetes.io/aws-load-balancer-${key}`, value]);
  return {
    metadata: { name, namespace: "default", annotations: Object.fromEntries(prefixed) },
    spec: {
      type: "LoadBalancer",
      selector: { app: name },
      ports: Object.entries(ports).map(([portName, port]) => ({ name: portName, port, targetPort: 8080 })),
    },
  };
}

/** A call in the form in which two can be compared: the parameters of its query without their numbers, sorted. */
function callText(body: string): string {
  const parameters = [...new URLSearchParams(body)].map(([name, value]) => `${name.replace(/\.\d+/g, "")}=${value}`);
  return parameters.toSorted().join(" ");
}

const flags = [
  "--cloud-provider=aws",
  "--leader-elect=false",
  "--secure-port=0",
  "--allocate-node-cidrs=true",
  "--cluster-cidr=10.200.0.0/16",
  "--configure-cloud-routes=true",
  "--route-reconciliation-period=2s",
  "--concurrent-service-syncs=2",
];

function asUser(kubeconfig: string): readonly string[] {
  return ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"].map((flag) => `--${flag}=${kubeconfig}`);
}

function cloudConfig({ account }: Cloud, network: Network, url: string, more: readonly string[]): string {
  const signing = { EC2: "ec2", "Elastic Load Balancing": "elasticloadbalancing", "Elastic Load Balancing v2": "elasticloadbalancing" };
  const overrides = Object.entries(signing).flatMap(([service, name], index) => [
    `[ServiceOverride "${index}"]`,
    `Service = ${service}`,
    `Region = ${account.region}`,
    `URL = ${url}`,
    `SigningRegion = ${account.region}`,
    `SigningName = ${name}`,
  ]);
  const global = [
    `Region = ${account.region}`,
    `VPC = ${network.vpcId}`,
    `SubnetID = ${network.privateSubnetIds[0]}`,
    `KubernetesClusterID = ${clusterId}`,
  ];
  return ["[Global]", ...global, ...more, ...overrides, ""].join("\n");
}

/** What a kubelet with an external cloud provider registers, with the block that a node allocator gave it. */
async function registerNode(cluster: TestCluster, { privateDnsName: name }: Instance, podCIDR: string): Promise<void> {
  await cluster.admin.create(nodes, {
    metadata: { name },
    spec: {
      podCIDR,
      podCIDRs: [podCIDR],
      taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }],
    },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  });
}
