/** The reference's termination handler and ours, each started in the same world, and what can be seen in the end. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { parse } from "yaml";
import { nodes, pods } from "../../src/kube/builtin.ts";
import type { Node } from "../../src/kube/types.ts";
import { realWorld, sleep } from "../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { getQueueAttributes } from "../../src/sandbox/cloud/sqs/queues.ts";
import type { Supervised } from "../../src/sandbox/cluster/real/supervision.ts";
import type { Bed } from "../bed/bed.ts";
import type { TestCluster } from "../bed/cluster.ts";
import { referenceTerminationHandler } from "./reference.ts";

export const managed = { "aws-node-termination-handler/managed": "" };
export const patienceMs = 60_000;
/** A mount of its own takes root. */
export const skip = process.getuid?.() === 0 ? false : "the reference reads /var/run/secrets, which only root can make for it alone";

/** How a handler is started: with these flags, in this environment. */
export type Start = (t: TestContext, bed: Bed, name: string, flags: readonly string[], aws: string) => Promise<void>;

/** What can be seen of a Node, a hook and a queue in the end. */
export interface Outcome {
  readonly unschedulable: boolean;
  readonly taints: readonly string[];
  readonly labels: readonly string[];
  readonly pods: readonly string[];
}

export const reference: Start = async (t, { cluster }, name, flags, aws) => {
  const child = await startReference(cluster, name, flags, aws);
  t.after(async () => {
    child.signal("SIGKILL");
    await child.exit();
  });
};

/** Starts the reference's handler in a cluster, as the user `reference-handler`. */
export async function startReference(cluster: TestCluster, name: string, flags: readonly string[], aws: string): Promise<Supervised> {
  const command = [await referenceTerminationHandler(), ...flags];
  return startAsInPod(cluster, { name, user: "reference-handler", command, environment: awsEnvironment(aws) });
}

export interface InPod {
  readonly name: string;
  /** Whose token it finds. */
  readonly user: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts a program that finds its service account and the API server as in a pod. Needs root. */
export async function startAsInPod(cluster: TestCluster, { name, user, command, environment }: InPod): Promise<Supervised> {
  const { folder, supervision, apiserver } = cluster.real;
  const account = await cluster.account(user, { apiGroups: ["*"], resources: ["*"], verbs: ["*"] });
  const config = parse(await (await realWorld().files.read(await account.kubeconfig())).toString()) as {
    clusters: { cluster: { "certificate-authority-data": string } }[];
  };
  const secrets = join(folder, `secrets-${name}`);
  await mkdir(secrets, { recursive: true });
  await writeFile(join(secrets, "token"), account.token);
  await writeFile(join(secrets, "ca.crt"), Buffer.from(config.clusters[0]!.cluster["certificate-authority-data"], "base64"));
  // Programs read their service account from one place only, which is made for this one alone.
  const place = "/run/secrets/kubernetes.io/serviceaccount";
  const script = `mount -t tmpfs none /run && mkdir -p ${place} && cp "$0"/* ${place}/ && exec "$@"`;
  const { hostname, port } = apiserver.url;
  return supervision.start("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script, secrets, ...command], {
    log: join(folder, `${name}.log`),
    folder,
    environment: { PATH: process.env.PATH ?? "", KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port, ...environment },
  });
}

export const ours: Start = async (_, { cluster, fairlead }, _name, flags, aws) => {
  const account = await cluster.account("our-handler", { apiGroups: ["*"], resources: ["*"], verbs: ["*"] });
  await fairlead(["node-termination-handler", `--kubeconfig=${await account.kubeconfig()}`, ...flags], {
    environment: awsEnvironment(aws),
  });
};

/** How a handler is told where the simulated AWS is. */
export function awsEnvironment(endpoint: string): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: "AKIAREFERENCE",
    AWS_SECRET_ACCESS_KEY: "of-no-worth",
    AWS_REGION: "us-east-1",
    AWS_EC2_METADATA_DISABLED: "true",
    ...(endpoint === "" ? {} : { AWS_ENDPOINT: endpoint }),
  };
}

/** A cloud with instances, their Nodes, and a pod on each. */
export async function world(t: TestContext, { cluster }: Bed, count: number) {
  const cloud = createCloud({ world: realWorld() });
  const network = standardNetwork(cloud, { clusterId: "judged" });
  const { ec2 } = cloud.account;
  const made = launchNodes(cloud, network, count).map(({ id }) =>
    ec2.instances.update(id, { state: "running", tags: { ...ec2.instances.get(id)!.tags, ...managed } }),
  );
  const namespace = await cluster.namespace();
  const join_ = async (instance: Instance) => {
    await cluster.admin.create(nodes, {
      metadata: { name: instance.privateDnsName, labels: { "kubernetes.io/hostname": instance.privateDnsName } },
      spec: { providerID: `aws:///${instance.zone}/${instance.id}` },
    });
    await cluster.admin.create(pods, {
      metadata: { name: `web-${instance.id}`, namespace },
      spec: {
        nodeName: instance.privateDnsName,
        terminationGracePeriodSeconds: 1,
        automountServiceAccountToken: false,
        containers: [{ name: "c", image: "i:1" }],
      },
    });
  };
  for (const instance of made) await join_(instance);
  const over = new AbortController();
  t.after(() => over.abort());
  void kubelets(cluster.admin, namespace, over.signal);
  const outcome = async (instance: Instance): Promise<Outcome> => {
    const node = await cluster.admin.get(nodes, { name: instance.privateDnsName });
    const { items } = await cluster.admin.list(pods, { namespace, fieldSelector: `spec.nodeName=${instance.privateDnsName}` });
    return { ...marks(node), pods: items.map(({ metadata }) => metadata.name) };
  };
  return { cloud, network, ec2, instances: made, join: join_, outcome };
}

/** A pod that is to go is gone at once. */
async function kubelets(admin: Bed["cluster"]["admin"], namespace: string, signal: AbortSignal): Promise<void> {
  const { clock } = realWorld();
  while (!signal.aborted) {
    const { items } = await admin.list(pods, { namespace }).catch(() => ({ items: [] }));
    for (const { metadata } of items) {
      if (metadata.deletionTimestamp === undefined) continue;
      await admin.delete(pods, { namespace, name: metadata.name }, { gracePeriodSeconds: 0 }).catch(() => {});
    }
    await sleep(clock, 300, signal).catch(() => {});
  }
}

/** What a handler leaves on a Node, without the ids of events, which are each told once. */
function marks({ metadata, spec }: Node): Omit<Outcome, "pods"> {
  const own = (key: string) =>
    key.startsWith("aws-node-termination-handler/") || key.includes("exclude-from-external") || key.includes("out-of-service");
  return {
    unschedulable: spec?.unschedulable ?? false,
    taints: (spec?.taints ?? [])
      .filter(({ key }) => own(key))
      .map(({ key, effect }) => `${key}:${effect}`)
      .sort(),
    labels: Object.keys(metadata?.labels ?? {})
      .filter(own)
      .sort(),
  };
}

export function messages(cloud: Cloud, QueueUrl: string): number {
  const { Attributes } = getQueueAttributes(cloud.account.sqs, { QueueUrl, AttributeNames: ["All"] });
  return Number(Attributes.ApproximateNumberOfMessages) + Number(Attributes.ApproximateNumberOfMessagesNotVisible);
}

/** The same story with each of the two; the first leaves nothing behind for the second. */
export async function both<T>(t: TestContext, story: (t: TestContext, start: Start, name: string) => Promise<T>): Promise<[T, T]> {
  const told: T[] = [];
  for (const [name, start] of Object.entries({ reference, ours })) {
    await t.test(name, async (inner) => void told.push(await story(inner, start, `${name}-${story.name}`)));
  }
  assert.equal(told.length, 2, "both came to an end");
  return told as [T, T];
}
