/** A sound cluster in a sound account, for tests that spoil it. */
import { diagnose, parseDoctorFlags } from "../../src/commands/doctor.ts";
import { catalogDefinition } from "../../src/discovery/catalog-definition.ts";
import type { Finding } from "../../src/doctor/finding.ts";
import { checkableFeatures } from "../../src/doctor/programs.ts";
import { nodes } from "../../src/kube/builtin.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { loadKubeConfig } from "../../src/kube/config/load.ts";
import type { Connect } from "../../src/kube/connections.ts";
import type { Node } from "../../src/kube/types.ts";
import { openGate } from "../../src/runtime/gate.ts";
import type { Transport } from "../../src/runtime/http.ts";
import { realWorld, type World } from "../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { launchNodes, type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { testHost } from "./bed.ts";
import { apply, applyManifest } from "./manifests.ts";

export interface DoctorWorld {
  readonly cloud: Cloud;
  readonly network: Network;
  readonly instances: readonly Instance[];
  readonly cluster: EmbeddedCluster;
  readonly kube: KubeClient;
  /** A Node as it is once initialised, unless told otherwise. */
  node(instance: Instance, spec?: Node["spec"], labels?: Record<string, string>): Promise<void>;
  /** What the doctor finds, with every feature on unless told otherwise. */
  findings(options?: Look): Promise<readonly Finding[]>;
}

export interface Look {
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  /** Whether it runs on a machine in AWS that is none of the cluster's. */
  readonly elsewhere?: boolean;
  /** How far this machine's clock is ahead. */
  readonly aheadMs?: number;
}

const allFeatures = `--features=${checkableFeatures.join(",")}`;

const uninitialized = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };

/** Three instances with their Nodes, fresh ones or initialised, the shipped roles, and a role with every permission. */
export async function doctorWorld({ fresh = false } = {}): Promise<DoctorWorld> {
  const machine = realWorld();
  const cloud = createCloud({ world: machine, settings: { speed: Number.POSITIVE_INFINITY } });
  const network = standardNetwork(cloud, { clusterId: "shop" });
  const instances = launchNodes(cloud, network, 3).map(({ id }) => cloud.account.ec2.instances.update(id, { state: "running" }));
  const cluster = createEmbeddedCluster({ world: machine, housekeeping: false });
  const connect: Connect = () => ({ send: cluster.send, close: async () => {} });
  const environment = { KUBERNETES_MASTER: "http://cluster" };
  const config = await loadKubeConfig({ ...machine, environment }, {});
  const kube = new KubeClient({ host: testHost(machine), config, gate: openGate(), userAgent: "test", connect });
  await applyManifest(kube, "manifests/rbac.yaml");
  await apply(kube, catalogDefinition);
  const node: DoctorWorld["node"] = async (instance, spec, labels = {}) => {
    const usual = { providerID: `aws:///${instance.zone}/${instance.id}` };
    await kube.create(nodes, { metadata: { name: instance.privateDnsName, labels }, spec: spec ?? usual });
  };
  for (const instance of instances) await node(instance, fresh ? { taints: [uninitialized] } : undefined);
  const [bastion] = launchNodes(cloud, network, 1).map(({ id }) => cloud.account.ec2.instances.update(id, { state: "running", tags: {} }));
  const [own, others] = [cloud.imds(instances[0]!.id), cloud.imds(bastion!.id)];
  const from =
    (elsewhere: boolean): Transport =>
    async (request) => {
      if (request.url.hostname === "169.254.169.254") return (elsewhere ? others : own)(request);
      const answer = await cloud.handle(request);
      // As every server of AWS does.
      return { ...answer, headers: { ...answer.headers, date: new Date(machine.clock.now()).toUTCString() } };
    };
  return {
    cloud,
    network,
    instances,
    cluster,
    kube,
    node,
    findings({ flags = [], environment: more = {}, files = {}, aheadMs = 0, elsewhere = false } = {}) {
      const world: World = {
        ...machine,
        environment: { ...environment, ...more },
        clock: { ...machine.clock, now: () => machine.clock.now() + aheadMs },
        files: { ...machine.files, read: async (path) => Buffer.from(files[path] ?? missing(path)) },
      };
      const chosen = flags.some((word) => word.startsWith("--features")) ? flags : [allFeatures, ...flags];
      return diagnose(parseDoctorFlags(chosen), world, { aws: from(elsewhere), kube: connect }, new AbortController().signal);
    },
  };
}

function missing(path: string): never {
  throw Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), { code: "ENOENT" });
}
