/** Volumes at instances: AttachVolume, DetachVolume, and what becomes of them when their instance ends. */
import {
  AttachVolume$,
  type AttachVolumeRequest,
  DetachVolume$,
  type DetachVolumeRequest,
  type VolumeAttachment as VolumeAttachmentAnswer,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../../errors.ts";
import { type Operations, write } from "../../service.ts";
import { ebsCards, instanceTypeNamed, sharesAttachments } from "../instance-types.ts";
import { find, KINDS } from "../kinds.ts";
import type { Ec2, Instance } from "../state.ts";
import { ROOT_DEVICE } from "./launch.ts";
import { obstructions, type Volume, type VolumeAttachment } from "./state.ts";

const ATTACHMENT_MS = 2000;
const DETACHMENT_MS = 3000;
/** Instances that one volume can be attached to with Multi-Attach. */
const MAX_INSTANCES = 16;

/** The operations on attachments. */
export function volumeAttachmentOperations(ec2: Ec2): Operations {
  return [
    write<AttachVolumeRequest, VolumeAttachmentAnswer>(AttachVolume$, (input) => attach(ec2, input)),
    write<DetachVolumeRequest, VolumeAttachmentAnswer>(DetachVolume$, (input) => detach(ec2, input)),
  ];
}

/** A terminated instance leaves its volumes: those marked for it are deleted, the others are free again. */
export function releaseVolumes(ec2: Ec2, instance: Instance): void {
  for (const id of instance.volumeIds) {
    const volume = ec2.volumes.get(id);
    const attachment = volume?.attachments.find(({ instanceId }) => instanceId === instance.id);
    if (volume === undefined || attachment === undefined) continue;
    if (attachment.deleteOnTermination) ec2.volumes.delete(id);
    else removeAttachment(ec2, id, instance.id);
  }
}

/** An attachment as AttachVolume, DetachVolume and DescribeVolumes show it. */
export function describeAttachment(volumeId: string, attachment: VolumeAttachment, state = attachment.state): VolumeAttachmentAnswer {
  return {
    VolumeId: volumeId,
    InstanceId: attachment.instanceId,
    Device: attachment.device,
    State: state,
    AttachTime: new Date(attachment.attached),
    DeleteOnTermination: attachment.deleteOnTermination,
    EbsCardIndex: attachment.cardIndex,
  };
}

function attach(ec2: Ec2, input: AttachVolumeRequest): VolumeAttachmentAnswer {
  const volume = find(ec2.volumes, KINDS.volume, input.VolumeId!);
  const instance = find(ec2.instances, KINDS.instance, input.InstanceId!);
  const device = input.Device!;
  checkVolume(volume);
  if (instance.state !== "running" && instance.state !== "stopped") {
    throw new ServiceError("IncorrectState", `Instance '${instance.id}' is not 'running'.`);
  }
  if (volume.zone !== instance.zone) {
    throw new ServiceError(
      "InvalidVolume.ZoneMismatch",
      `The volume '${volume.id}' is not in the same availability zone as instance '${instance.id}'`,
    );
  }
  if (volume.attachments.some(({ instanceId }) => instanceId === instance.id)) throw inUse(volume);
  checkDevice(ec2, instance, device);
  checkRoom(ec2, instance);
  const attachment: VolumeAttachment = {
    instanceId: instance.id,
    device,
    cardIndex: checkedCard(instance, input.EbsCardIndex),
    state: "attaching",
    deleteOnTermination: false,
    attached: ec2.account.time.now(),
  };
  ec2.volumes.update(volume.id, { attachments: [...volume.attachments, attachment] });
  ec2.instances.update(instance.id, { volumeIds: [...instance.volumeIds, volume.id] });
  if (!obstructions(ec2).get(volume.id)?.attaching) {
    ec2.account.time.after(ATTACHMENT_MS, () => {
      if (stateNow(ec2, volume.id, attachment) === "attaching") replaceAttachment(ec2, volume.id, instance.id, { state: "attached" });
    });
  }
  return describeAttachment(volume.id, attachment);
}

function checkVolume(volume: Volume): void {
  if (volume.state !== "available") {
    throw new ServiceError("IncorrectState", `The volume '${volume.id}' is in the '${volume.state}' state.`);
  }
  if (volume.attachments.length === 0) return;
  if (!volume.spec.multiAttach) throw inUse(volume);
  if (volume.attachments.length >= MAX_INSTANCES) {
    throw new ServiceError(
      "AttachmentLimitExceeded",
      `The volume '${volume.id}' is attached to ${MAX_INSTANCES} instances, the most there can be.`,
    );
  }
}

function inUse(volume: Volume): ServiceError {
  return new ServiceError("VolumeInUse", `${volume.id} is already attached to an instance`);
}

/** A name is taken from the call that asks for it until the volume is detached for good. */
function checkDevice(ec2: Ec2, instance: Instance, device: string): void {
  if (!/^(\/dev\/)?(sd[a-z]\d{0,2}|xvd[a-z]{1,2}\d{0,2})$/.test(device)) {
    throw new ServiceError(
      "InvalidParameterValue",
      `Value (${device}) for parameter device is invalid. ${device} is not a valid EBS device name.`,
    );
  }
  if (attachmentsAt(ec2, instance).some(({ attachment }) => attachment.device === device)) {
    throw new ServiceError(
      "InvalidParameterValue",
      `Invalid value '${device}' for unixDevice. Attachment point ${device} is already in use`,
    );
  }
}

/** Most types count volumes and further interfaces together; newer ones have places for volumes alone. The root volume takes one. */
function checkRoom(ec2: Ec2, instance: Instance): void {
  const type = instanceTypeNamed(instance.type);
  if (type === undefined) return;
  const taken = attachmentsAt(ec2, instance).length + (sharesAttachments(type) ? instance.interfaceIds.length - 1 : 0);
  if (taken >= type.attachments) {
    throw new ServiceError(
      "AttachmentLimitExceeded",
      `The maximum number of attachments for instance type ${type.name} is ${type.attachments}, and '${instance.id}' has them.`,
    );
  }
}

function checkedCard(instance: Instance, asked: number | undefined): number | undefined {
  const cards = ebsCards(instance.type);
  if (asked !== undefined && (asked < 0 || asked >= cards)) {
    throw new ServiceError(
      "InvalidParameterValue",
      `EBS card index ${asked} is not valid for instance type ${instance.type}, which has ${cards}.`,
    );
  }
  return cards > 1 ? (asked ?? 0) : asked;
}

function detach(ec2: Ec2, input: DetachVolumeRequest): VolumeAttachmentAnswer {
  const volume = find(ec2.volumes, KINDS.volume, input.VolumeId!);
  if (input.InstanceId) find(ec2.instances, KINDS.instance, input.InstanceId);
  const attachment = chosenAttachment(volume, input);
  const instance = ec2.instances.get(attachment.instanceId);
  if (attachment.device === ROOT_DEVICE && instance !== undefined && instance.state !== "stopped") {
    throw new ServiceError(
      "OperationNotPermitted",
      `Unable to detach root volume '${ROOT_DEVICE}' from instance '${attachment.instanceId}'`,
    );
  }
  if (input.Force) {
    removeAttachment(ec2, volume.id, attachment.instanceId);
    return describeAttachment(volume.id, attachment, "detaching");
  }
  if (attachment.state === "detaching" || attachment.state === "busy") {
    throw new ServiceError("IncorrectState", `Volume '${volume.id}' is in the 'detaching' state.`);
  }
  const busy = obstructions(ec2).get(volume.id)?.busy ?? false;
  replaceAttachment(ec2, volume.id, attachment.instanceId, { state: busy ? "busy" : "detaching" });
  waitForRelease(ec2, volume.id, attachment);
  return describeAttachment(volume.id, attachment, busy ? "busy" : "detaching");
}

function chosenAttachment(volume: Volume, { InstanceId: instanceId, Device: device, VolumeId }: DetachVolumeRequest): VolumeAttachment {
  if (volume.attachments.length === 0) {
    throw new ServiceError("IncorrectState", `Volume '${VolumeId}' is in the '${volume.state}' state.`);
  }
  if (!instanceId && volume.attachments.length > 1) {
    throw new ServiceError(
      "InvalidParameterCombination",
      `Volume '${VolumeId}' is attached to several instances; name the one to detach it from.`,
    );
  }
  const found = volume.attachments.find(
    (each) => (!instanceId || each.instanceId === instanceId) && (device === undefined || each.device === device),
  );
  if (found === undefined) {
    throw new ServiceError(
      "InvalidAttachment.NotFound",
      `The volume '${VolumeId}' is not attached to instance '${instanceId}' as '${device ?? "any device"}'.`,
    );
  }
  return found;
}

/** A machine that holds on to the device is asked again and again, until it lets go or somebody forces it. */
function waitForRelease(ec2: Ec2, volumeId: string, attachment: VolumeAttachment): void {
  const { time } = ec2.account;
  const ask = () => {
    const state = stateNow(ec2, volumeId, attachment);
    if (state !== "detaching" && state !== "busy") return;
    // Asking takes its full time at unlimited speed, or it would never end.
    if (obstructions(ec2).get(volumeId)?.busy) time.forgetAfter(DETACHMENT_MS, ask);
    else removeAttachment(ec2, volumeId, attachment.instanceId);
  };
  time.after(DETACHMENT_MS, ask);
}

/** The state of this very attachment; undefined when it is over, also where the volume is back at the same instance. */
function stateNow(ec2: Ec2, volumeId: string, { instanceId, attached }: VolumeAttachment): VolumeAttachment["state"] | undefined {
  return ec2.volumes.get(volumeId)?.attachments.find((each) => each.instanceId === instanceId && each.attached === attached)?.state;
}

function replaceAttachment(ec2: Ec2, volumeId: string, instanceId: string, change: Partial<VolumeAttachment>): void {
  const attachments = ec2.volumes.get(volumeId)?.attachments ?? [];
  ec2.volumes.update(volumeId, {
    attachments: attachments.map((each) => (each.instanceId === instanceId ? { ...each, ...change } : each)),
  });
}

function removeAttachment(ec2: Ec2, volumeId: string, instanceId: string): void {
  const volume = ec2.volumes.get(volumeId);
  if (volume !== undefined) {
    ec2.volumes.update(volumeId, { attachments: volume.attachments.filter((each) => each.instanceId !== instanceId) });
  }
  const instance = ec2.instances.get(instanceId);
  if (instance !== undefined) ec2.instances.update(instanceId, { volumeIds: instance.volumeIds.filter((id) => id !== volumeId) });
}

/** What an instance has of volumes, in the order in which they came. */
export function attachmentsAt(ec2: Ec2, instance: Instance): readonly { readonly volume: Volume; readonly attachment: VolumeAttachment }[] {
  return instance.volumeIds.flatMap((id) => {
    const volume = ec2.volumes.get(id);
    const attachment = volume?.attachments.find(({ instanceId }) => instanceId === instance.id);
    return volume === undefined || attachment === undefined ? [] : [{ volume, attachment }];
  });
}
