import { pods } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { driverName } from "../../volumes/names.ts";
import { claims, storageClasses, volumeSnapshots } from "../../volumes/storage-resources.ts";
import type { Cloud } from "../cloud/cloud.ts";
import type { Instance } from "../cloud/ec2/state.ts";
import type { Volume } from "../cloud/ec2/volumes/state.ts";
import type { VolumeObjects } from "../volume-driver.ts";
import { nodeOf, nodesIn } from "./expectations.ts";
import { namespace } from "./pods.ts";
import type { Objection, Scene, Stage } from "./scene.ts";

const name = "orders";
const key = `${namespace}/${name}`;

/** A pod's volume is made, grown and copied, and survives the machine that it was attached to. */
export const volumeFollows: Scene = {
  title: "A pod's volume follows it to another machine",
  about:
    "A claim asks for storage. Fairlead makes an EBS volume in the zone of the pod's node and attaches it, without any of the usual sidecars; it " +
    "lets the volume grow and takes a snapshot. When the machine is gone, the volume is attached where the pod goes next. Nothing is lost, and " +
    "at no moment is the volume attached to two machines.",
  needs: ["cloud-node-controller", "cloud-node-lifecycle-controller"],
  async play(stage) {
    const { sandbox, say, expect } = stage;
    const { kube, cloud, machines, volumes } = sandbox;
    const [first, second] = await twoInOneZone(stage);
    say("kubectl create: the claim orders for 10 GiB, and a pod that uses it");
    await createClaim(kube);
    await runPod(kube, first);
    await expect(`the claim is bound to a volume in ${first.zone}, the zone of the pod's node`, () =>
      boundObjection(volumes, cloud, first),
    );
    await expect("the volume is attached to the node's instance", () => attachedObjection(cloud, first));

    say("kubectl create: a VolumeSnapshot of the claim");
    await kube.create(volumeSnapshots, { metadata: { namespace, name }, spec: { source: { persistentVolumeClaimName: name } } });
    say("kubectl patch: the claim asks for 20 GiB");
    await kube.patch(claims, { namespace, name }, { merge: { spec: { resources: { requests: { storage: "20Gi" } } } } });
    await expect("the volume and the claim have 20 GiB", () => grownObjection(volumes, cloud));

    say(`aws ec2 terminate-instances --instance-ids ${first.id}`);
    machines.terminate(first.id);
    await expect("its Node is deleted", (picture) =>
      nodesIn(picture).some((node) => node.name === first.privateDnsName) ? "it is still there" : undefined,
    );
    say("Kubernetes starts the pod on another node of the zone");
    await kube.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 });
    await runPod(kube, second);
    await expect("the volume is attached there", () => attachedObjection(cloud, second));
    await expect("the snapshot is ready to use", () => (volumes.snapshots.get(key)?.status?.readyToUse ? undefined : "it is not yet"));

    say("kubectl delete: the pod, the claim and the snapshot");
    await kube.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 });
    await kube.delete(claims, { namespace, name });
    await kube.delete(volumeSnapshots, { namespace, name });
    await expect("nothing of it is left in the AWS account", () => leftObjection(cloud));
    await kube.delete(storageClasses, { name });
    machines.launch();
  },
};

/** Two machines of one zone whose Nodes are ready; where there are none, another one is launched. */
async function twoInOneZone({ sandbox, say, expect }: Stage): Promise<readonly [Instance, Instance]> {
  const { machines } = sandbox;
  const running = () => machines.list().filter(({ state }) => state === "running" || state === "pending");
  const pair = () => {
    const all = running();
    const first = all.find(({ id, zone }) => all.some((other) => other.zone === zone && other.id !== id));
    return first && ([first, all.find((other) => other.zone === first.zone && other.id !== first.id)!] as const);
  };
  while (pair() === undefined) {
    say("aws ec2 run-instances: another machine");
    machines.launch();
  }
  const found = pair()!;
  await expect("two nodes of one zone are ready", (picture) =>
    found.every(({ id }) => nodeOf(picture, id)?.ready === "True" && nodeOf(picture, id)?.zone !== undefined) ? undefined : "not yet",
  );
  return found;
}

async function createClaim(kube: KubeClient): Promise<void> {
  const volumeBindingMode = "WaitForFirstConsumer";
  await kube.create(storageClasses, { metadata: { name }, provisioner: driverName, volumeBindingMode, allowVolumeExpansion: true });
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } }, storageClassName: name };
  await kube.create(claims, { metadata: { namespace, name }, spec });
}

async function runPod(kube: KubeClient, { privateDnsName }: Instance): Promise<void> {
  await kube.create(pods, {
    metadata: { namespace, name },
    spec: {
      nodeName: privateDnsName,
      automountServiceAccountToken: false,
      containers: [{ name: "database", image: "database:1" }],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: name } }],
    },
  });
}

/** The volume of the claim, as EC2 has it at this moment. */
function volumeIn({ account }: Cloud): Volume | undefined {
  account.time.settle();
  return account.ec2.volumes.values().find(({ tags }) => tags["kubernetes.io/created-for/pvc/name"] === name);
}

function boundObjection({ claims: seen }: VolumeObjects, cloud: Cloud, { zone }: Instance): Objection {
  const volume = volumeIn(cloud);
  if (volume === undefined) return "there is no volume yet";
  if (volume.zone !== zone) return `it is in ${volume.zone}`;
  const phase = seen.get(key)?.status?.phase;
  return phase === "Bound" ? undefined : `the claim is ${phase}`;
}

function attachedObjection(cloud: Cloud, { id }: Instance): Objection {
  const attachments = volumeIn(cloud)?.attachments ?? [];
  if (attachments.length > 1) return `it is attached to ${attachments.length} instances`;
  const [own] = attachments;
  return own?.instanceId === id && own.state === "attached"
    ? undefined
    : own
      ? `it is ${own.state} at ${own.instanceId}`
      : "it is not attached";
}

function grownObjection({ claims: seen }: VolumeObjects, cloud: Cloud): Objection {
  const size = volumeIn(cloud)?.spec.sizeGiB;
  if (size !== 20) return `the volume has ${size} GiB`;
  const capacity = seen.get(key)?.status?.capacity?.storage;
  return capacity === "20Gi" ? undefined : `the claim has ${capacity}`;
}

function leftObjection(cloud: Cloud): Objection {
  const volume = volumeIn(cloud);
  if (volume !== undefined) return `the volume is ${volume.state}`;
  const snapshots = cloud.account.ec2.snapshots.values().filter(({ tags }) => tags.CSIVolumeSnapshotName !== undefined);
  return snapshots.length === 0 ? undefined : "the snapshot is still there";
}
