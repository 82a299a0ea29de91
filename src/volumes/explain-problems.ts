/** What keeps a claim from its volume, or a pod from its disk, and what to do about it. One rule each, in the order of a volume's way. */
import { diskIn, type ExplainedNode, type VolumeFacts } from "./explain-facts.ts";
import { inTreeName } from "./migration.ts";
import { driverName } from "./names.ts";
import { annotations } from "./roles/provision-plan.ts";
import { isMarked, markNames } from "./tags.ts";

export interface VolumeProblem {
  readonly what: string;
  readonly todo: string;
}

type Rule = (facts: VolumeFacts) => VolumeProblem | undefined;

/** Everything that is wrong, the first cause first. Pure. */
export function problemsOf(facts: VolumeFacts): readonly VolumeProblem[] {
  return rules.flatMap((rule) => rule(facts) ?? []);
}

const isBound = ({ claim }: VolumeFacts) => Boolean(claim?.spec?.volumeName);
const describe = (kind: string, name: string, namespace?: string) =>
  `kubectl ${namespace ? `-n ${namespace} ` : ""}describe ${kind} ${name}`;

const rules: readonly Rule[] = [
  function classIsMissing({ claim, storageClass, ...rest }) {
    if (claim === undefined || isBound({ claim, storageClass, ...rest }) || storageClass !== undefined) return undefined;
    const name = claim.spec?.storageClassName;
    if (name === undefined || name === "") {
      return { what: "the claim names no StorageClass, so no volume is created for it", todo: "name one, or make one the default class" };
    }
    return { what: `there is no StorageClass ${name}`, todo: "kubectl get storageclass" };
  },
  function classOfAnother(facts) {
    const { storageClass } = facts;
    if (isBound(facts) || storageClass === undefined || [driverName, inTreeName].includes(storageClass.provisioner)) return undefined;
    return {
      what: `StorageClass ${storageClass.metadata.name} is of ${storageClass.provisioner}, not of ${driverName}`,
      todo: `ask the driver of ${storageClass.provisioner}`,
    };
  },
  function waitsForPod(facts) {
    const { claim, storageClass, pods } = facts;
    if (claim === undefined || isBound(facts) || storageClass?.volumeBindingMode !== "WaitForFirstConsumer") return undefined;
    if (claim.metadata.annotations?.[annotations.selectedNode] !== undefined) return undefined;
    if (pods.length === 0) {
      const what = `the claim waits for its first pod: StorageClass ${storageClass.metadata.name} is WaitForFirstConsumer`;
      return { what, todo: "nothing until a pod uses the claim" };
    }
    const [pod] = pods;
    return {
      what: `the scheduler has not found a node for pod ${pod!.metadata.name}`,
      todo: describe("pod", pod!.metadata.name, pod!.metadata.namespace),
    };
  },
  function driverIsMissing(facts) {
    const selected = facts.claim?.metadata.annotations?.[annotations.selectedNode];
    const node = facts.nodes.find(({ name }) => name === selected);
    if (isBound(facts) || node === undefined || isRegistered(node)) return undefined;
    return notRegistered(node);
  },
  function notMadeYet(facts) {
    const { claim, warnings } = facts;
    if (claim === undefined || isBound(facts) || facts.volume !== undefined) return undefined;
    const provisioner = annotations.provisioner.map((key) => claim.metadata.annotations?.[key]).find(Boolean);
    if (provisioner !== driverName) return undefined;
    if (warnings.length > 0) return { what: "the volume could not be created: see the warnings", todo: "do what the latest warning says" };
    return {
      what: "the driver has not created the volume yet, and has not said why",
      todo: `kubectl -n kube-system get lease ${driverName.replaceAll(".", "-")}`,
    };
  },
  function volumeIsMissing({ claim, volume }) {
    const name = claim?.spec?.volumeName;
    if (!name || volume !== undefined) return undefined;
    return {
      what: `the claim is bound to PersistentVolume ${name}, which does not exist: its data is lost to it`,
      todo: "restore the PersistentVolume from a backup of the cluster; its disk may still exist: fairlead gc --plan",
    };
  },
  function diskIsUnknown({ disk, volume }) {
    if (disk === undefined || disk.lookup.kind === "found") return undefined;
    const what = `PersistentVolume ${volume?.metadata.name} names ${disk.id}, which EC2 does not know`;
    return {
      what: disk.lookup.kind === "not-found" ? what : `${what} in this answer`,
      todo: "look at region and account: fairlead doctor. A disk that was deleted does not come back; restore it from a snapshot",
    };
  },
  function otherZone(facts) {
    const disk = diskIn(facts);
    if (disk === undefined) return undefined;
    const used = facts.pods.flatMap(({ spec }) => facts.nodes.filter(({ name }) => name === spec?.nodeName));
    const wrong = used.find(({ zone }) => zone !== undefined && zone !== disk.zone);
    if (wrong === undefined) return undefined;
    return {
      what: `${disk.id} is in ${disk.zone}, and node ${wrong.name} in ${wrong.zone}: it cannot be attached there`,
      todo: "give the PersistentVolume a node affinity (--volume-labels does), and delete the pod, so that it goes to the right zone",
    };
  },
  function nodeHasNoDriver({ pods, nodes }) {
    const node = pods
      .flatMap(({ spec }) => nodes.filter(({ name }) => name === spec?.nodeName))
      .find((each) => each.exists && !isRegistered(each));
    return node && notRegistered(node);
  },
  function nodeIsFull({ nodes, attachments }) {
    const waiting = attachments.filter(({ status }) => !status?.attached).map(({ spec }) => spec.nodeName);
    const full = nodes.find((node) => waiting.includes(node.name) && node.attached > (allocatable(node) ?? Number.POSITIVE_INFINITY));
    return (
      full && {
        what: `node ${full.name} takes ${allocatable(full)} volumes, and ${full.attached} are wanted there`,
        todo: "move a pod with a volume to another node",
      }
    );
  },
  function attachmentFailed({ attachments }) {
    const failed = attachments.find(({ status }) => status?.attachError ?? status?.detachError);
    const error = failed?.status?.attachError ?? failed?.status?.detachError;
    return (
      error && {
        what: `${failed!.status?.attachError ? "attaching" : "detaching"} failed: ${error.message}`,
        todo: describe("volumeattachment", failed!.metadata.name),
      }
    );
  },
  function attachedElsewhere(facts) {
    const disk = diskIn(facts);
    if (disk === undefined || disk.multiAttach) return undefined;
    const wanted = facts.attachments.map(({ spec }) => spec.nodeName);
    const holder = disk.attachments.find(
      ({ instanceId, state }) =>
        state !== "detached" && !facts.nodes.some((node) => wanted.includes(node.name) && node.instanceId === instanceId),
    );
    if (holder === undefined) return undefined;
    const name = facts.nodes.find(({ instanceId }) => instanceId === holder.instanceId)?.name;
    const where = `${holder.instanceId}${name ? ` (node ${name})` : ", which is no node that a VolumeAttachment names"}`;
    return {
      what: `${disk.id} is ${holder.state} at ${where}, and no VolumeAttachment says so`,
      todo: `if nothing there uses it: aws ec2 detach-volume --volume-id ${disk.id} --instance-id ${holder.instanceId}`,
    };
  },
  function diskIsInError(facts) {
    const disk = diskIn(facts);
    return disk?.state === "error"
      ? { what: `${disk.id} is in state error: its hardware has failed`, todo: "restore it from a snapshot" }
      : undefined;
  },
  function deletionWaits({ claim, pods }) {
    if (claim?.metadata.deletionTimestamp === undefined || pods.length === 0) return undefined;
    return {
      what: `the claim is to be deleted, and ${pods.map(({ metadata }) => metadata.name).join(", ")} still use it`,
      todo: "delete those pods",
    };
  },
  function diskIsKept(facts) {
    const disk = diskIn(facts);
    const { volume, clusterId } = facts;
    if (disk === undefined || volume?.status?.phase !== "Released") return undefined;
    if (volume.spec?.persistentVolumeReclaimPolicy === "Retain") {
      return {
        what: "the claim is gone, and the reclaim policy is Retain: the disk stays until somebody deletes it",
        todo: `kubectl delete pv ${volume.metadata.name}, then aws ec2 delete-volume --volume-id ${disk.id}`,
      };
    }
    if (isMarked(disk.tags, clusterId)) return undefined;
    return {
      what: `${disk.id} carries none of the tags ${markNames.join(", ")}: it is not deleted with its claim`,
      todo: `aws ec2 create-tags --resources ${disk.id} --tags Key=${driverName}/cluster,Value=true`,
    };
  },
  function growthFailed({ claim }) {
    const failed = claim?.status?.conditions?.find(({ type }) => /ResizeError$|^ModifyVolumeError$/.test(type));
    return (
      failed && {
        what: `${failed.type}: ${failed.message}`,
        todo: "ask for a size, type and IOPS that EC2 allows; EC2 takes four changes of a volume in 24 hours",
      }
    );
  },
  function growthWaits({ claim }) {
    const waits = claim?.status?.conditions?.some(({ type, status }) => type === "FileSystemResizePending" && status === "True");
    return waits
      ? { what: "the disk has grown, its file system not yet: that is done where a pod uses it", todo: "start a pod that uses the claim" }
      : undefined;
  },
];

function isRegistered({ csiNode }: ExplainedNode): boolean {
  return csiNode?.spec.drivers.some(({ name }) => name === driverName) ?? false;
}

function allocatable({ csiNode }: ExplainedNode): number | undefined {
  return csiNode?.spec.drivers.find(({ name }) => name === driverName)?.allocatable?.count;
}

function notRegistered({ name }: ExplainedNode): VolumeProblem {
  return { what: `${driverName} is not registered on node ${name}`, todo: `kubectl get pods -A --field-selector spec.nodeName=${name}` };
}
