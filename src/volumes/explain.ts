/** One page about a claim or a PersistentVolume: what it asks for, what exists, where its disk is attached, what is wrong. Pure. */
import { diskIn, type VolumeFacts } from "./explain-facts.ts";
import { problemsOf } from "./explain-problems.ts";
import { topologyKeys } from "./names.ts";

/** The page, headed by what it is about. */
export function explainVolume(title: string, facts: VolumeFacts): string {
  const problems = problemsOf(facts);
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["claim", claimText(facts)],
    ["class", classText(facts)],
    [
      "pods",
      facts.pods.map(
        ({ metadata, spec, status }) => `${metadata.name} on ${spec?.nodeName ?? "no node yet"}, ${status?.phase ?? "Pending"}`,
      ),
    ],
    ["volume", volumeText(facts)],
    ["disk", diskText(facts)],
    ["attachments", attachmentTexts(facts)],
    ["device", deviceText(facts)],
    ["changes", changeTexts(facts)],
    ["warnings", facts.warnings],
    ["wrong", problems.map(({ what }) => what)],
    ["next", problems.length > 0 ? [problems[0]!.todo] : ["nothing"]],
  ];
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  const lines = rows.flatMap(([name, texts]) =>
    (texts.length > 0 ? texts : ["none"]).map((text, at) => `  ${(at === 0 ? name : "").padEnd(width)}${text}`),
  );
  return `${title}\n\n${lines.join("\n")}\n`;
}

function claimText({ claim }: VolumeFacts): string[] {
  if (claim === undefined) return [];
  const { metadata, spec, status } = claim;
  const has = status?.capacity?.storage;
  const asks = `${spec?.resources?.requests?.storage ?? "nothing"} ${(spec?.accessModes ?? []).join(", ")}`;
  return [
    `${metadata.namespace}/${metadata.name} asks for ${asks}${spec?.volumeMode === "Block" ? ", as a block device" : ""}`,
    `${status?.phase ?? "Pending"}${has ? `, has ${has}` : ""}${metadata.deletionTimestamp ? ", is to be deleted" : ""}`,
  ];
}

function classText({ storageClass }: VolumeFacts): string[] {
  if (storageClass === undefined) return [];
  const { metadata, provisioner, parameters = {}, volumeBindingMode = "Immediate", reclaimPolicy = "Delete" } = storageClass;
  const settings = Object.entries(parameters).map(([key, value]) => `${key}=${value}`);
  return [`${metadata.name} of ${provisioner}, ${[volumeBindingMode, reclaimPolicy, ...settings].join(", ")}`];
}

function volumeText({ volume }: VolumeFacts): string[] {
  if (volume === undefined) return [];
  const { metadata, spec, status } = volume;
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const zones = terms.flatMap(({ matchExpressions = [] }) =>
    matchExpressions.filter(({ key }) => (topologyKeys.zone as readonly string[]).includes(key)).flatMap(({ values = [] }) => values),
  );
  const kind = spec?.awsElasticBlockStore ? ", from before CSI" : "";
  return [
    `${metadata.name}, ${spec?.capacity?.storage}, ${status?.phase ?? "Pending"}, ${spec?.persistentVolumeReclaimPolicy ?? "Retain"}${kind}`,
    zones.length > 0 ? `for nodes in ${[...new Set(zones)].join(", ")}` : "for nodes in any zone: it does not say where its disk is",
    ...(metadata.deletionTimestamp ? [`is to be deleted, and waits for ${(metadata.finalizers ?? []).join(", ")}`] : []),
  ];
}

function diskText(facts: VolumeFacts): string[] {
  const disk = diskIn(facts);
  if (facts.disk === undefined) return [];
  if (disk === undefined) return [`${facts.disk.id}: EC2 does not show it`];
  const speed = [disk.iops && `${disk.iops} IOPS`, disk.throughput && `${disk.throughput} MiB/s`].filter(Boolean);
  return [
    `${disk.id}, ${[`${disk.sizeGiB} GiB`, disk.type, ...speed].join(", ")}, in ${disk.zone}, ${disk.state}`,
    disk.encrypted ? `encrypted with ${disk.kmsKeyId ?? "the account's default key"}` : "not encrypted",
    ...(disk.snapshotId ? [`made from ${disk.snapshotId}`] : []),
  ];
}

function attachmentTexts(facts: VolumeFacts): string[] {
  const told = facts.attachments.map(({ metadata, spec, status }) => {
    const state = status?.attached ? "attached" : "not attached yet";
    return `to ${spec.nodeName}: ${state}${metadata.deletionTimestamp ? ", is to be detached" : ""}`;
  });
  const seen = (diskIn(facts)?.attachments ?? []).map(({ instanceId, state, device, attachTime }) => {
    const node = facts.nodes.find((each) => each.instanceId === instanceId)?.name;
    return `EC2: ${state} at ${instanceId}${node ? ` (${node})` : ""} as ${device}${attachTime ? ` since ${attachTime}` : ""}`;
  });
  return [...told, ...seen];
}

function deviceText(facts: VolumeFacts): string[] {
  const disk = diskIn(facts);
  const [attachment] = disk?.attachments ?? [];
  if (disk === undefined || attachment?.state !== "attached") return [];
  return [`${attachment.device} on the node, or the NVMe disk with the serial number ${disk.id.replace("-", "")}`];
}

function changeTexts({ claim, modification }: VolumeFacts): string[] {
  const { allocatedResourceStatuses, allocatedResources, modifyVolumeStatus } = claim?.status ?? {};
  const growing = allocatedResourceStatuses?.storage;
  return [
    ...(growing ? [`to ${allocatedResources?.storage}: ${growing}`] : []),
    ...(modifyVolumeStatus ? [`to class ${modifyVolumeStatus.targetVolumeAttributesClassName}: ${modifyVolumeStatus.status}`] : []),
    ...(modification ? [`EC2: the last change is ${modification.state}${modification.message ? `: ${modification.message}` : ""}`] : []),
  ];
}
