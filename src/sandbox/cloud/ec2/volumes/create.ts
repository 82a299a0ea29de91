/** Volumes come and go: CreateVolume, CopyVolumes and DeleteVolume. */
import {
  CopyVolumes$,
  type CopyVolumesRequest,
  type CopyVolumesResult,
  CreateVolume$,
  type CreateVolumeRequest,
  DeleteVolume$,
  type DeleteVolumeRequest,
  type Volume as VolumeAnswer,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../../errors.ts";
import { type Operations, write } from "../../service.ts";
import { find, KINDS } from "../kinds.ts";
import type { Ec2, Tags } from "../state.ts";
import { needsCreateTags, specifiedTags } from "../tags.ts";
import { optedIn, zoneNamed } from "../zones.ts";
import { describeVolume } from "./answers.ts";
import { isFastRestored } from "./fast-restores.ts";
import { isUsable, keyArn } from "./keys.ts";
import { checkedSpec, checkQuotas } from "./specs.ts";
import type { Snapshot, Volume } from "./state.ts";

const CREATION_MS = 3000;
const DELETION_MS = 2000;
/** How long a volume stays in sight when its key turns out to be out of reach. */
const FAILURE_MS = 2000;
/** How fast a volume is filled from its snapshot when nobody pays for more, in MiB/s. */
const USUAL_RATE = 50;
const RATES = { min: 100, max: 300 };

/** The operations that make and remove volumes. */
export function volumeCreationOperations(ec2: Ec2): Operations {
  return [
    write<CreateVolumeRequest, VolumeAnswer>(
      CreateVolume$,
      (input) =>
        describeVolume(
          ec2,
          once(ec2, "CreateVolume", input, () => plannedVolume(ec2, input)),
        ),
      needsCreateTags,
      (input) => void plannedVolume(ec2, input),
    ),
    write<CopyVolumesRequest, CopyVolumesResult>(
      CopyVolumes$,
      (input) => ({
        Volumes: [
          describeVolume(
            ec2,
            once(ec2, "CopyVolumes", input, () => plannedCopy(ec2, input)),
          ),
        ],
      }),
      needsCreateTags,
      (input) => void plannedCopy(ec2, input),
    ),
    write<DeleteVolumeRequest, void>(DeleteVolume$, (input) => {
      const volume = find(ec2.volumes, KINDS.volume, input.VolumeId!);
      const holder = volume.attachments[0];
      if (holder !== undefined) {
        throw new ServiceError("VolumeInUse", `Volume ${volume.id} is currently attached to ${holder.instanceId}`);
      }
      if (volume.state !== "available") {
        throw new ServiceError("IncorrectState", `The volume '${volume.id}' is in the '${volume.state}' state.`);
      }
      ec2.volumes.update(volume.id, { state: "deleting" });
      ec2.account.time.after(DELETION_MS, () => ec2.volumes.delete(volume.id));
    }),
  ];
}

type Planned = Omit<Volume, "id" | "state" | "created" | "attachments" | "modification" | "modified">;

/**
 * One volume for each client token. The token of a volume that is gone stays used: EC2 refuses it, also where the volume
 * never came to be because its key was out of reach.
 */
function once(ec2: Ec2, action: string, input: CreateVolumeRequest | CopyVolumesRequest, plan: () => Planned): Volume {
  const { ClientToken, ...parameters } = input;
  const id = ec2.tokens.once(action, ClientToken, parameters, () => create(ec2, plan()).id);
  const volume = ec2.volumes.get(id);
  if (volume === undefined) {
    throw new ServiceError("IdempotentParameterMismatch", `The client token '${ClientToken}' was used for a volume that is gone.`);
  }
  return volume;
}

function create(ec2: Ec2, planned: Planned): Volume {
  const { ids, time } = ec2.account;
  const id = ids.resource("vol");
  const usable = isUsable(ec2, planned.kmsKeyArn);
  const volume = ec2.volumes.put(id, {
    ...planned,
    id,
    state: "creating",
    created: time.now(),
    attachments: [],
    modification: undefined,
    modified: [],
  });
  time.after(usable ? CREATION_MS : FAILURE_MS, () => {
    if (ec2.volumes.get(id)?.state !== "creating") return;
    if (usable) ec2.volumes.update(id, { state: "available" });
    else ec2.volumes.delete(id);
  });
  return volume;
}

/** What a CreateVolume asks for, or EC2's refusal. */
function plannedVolume(ec2: Ec2, input: CreateVolumeRequest): Planned {
  const zone = zoneOf(ec2, input);
  const snapshot = input.SnapshotId ? find(ec2.snapshots, KINDS.snapshot, input.SnapshotId) : undefined;
  if (snapshot !== undefined && snapshot.state !== "completed") {
    throw new ServiceError("IncorrectState", `Snapshot ${snapshot.id} is in the '${snapshot.state}' state.`);
  }
  const spec = checkedSpec({
    type: input.VolumeType ?? "gp2",
    sizeGiB: sizeOf(input, snapshot),
    iops: input.Iops,
    throughput: input.Throughput,
    multiAttach: input.MultiAttachEnabled ?? false,
  });
  checkRate(input, snapshot);
  checkQuotas(ec2, spec, undefined, "VolumeLimitExceeded");
  if (input.KmsKeyId && input.Encrypted !== true) {
    throw new ServiceError("InvalidParameterDependency", "The parameter KmsKeyId requires the parameter Encrypted to be set.");
  }
  // What is encrypted stays so, with its own key unless another one is named.
  const encrypted = input.Encrypted === true || snapshot?.encrypted === true;
  const fastRestored = snapshot !== undefined && isFastRestored(ec2, snapshot.id, zone.name);
  return {
    spec,
    zone: zone.name,
    zoneId: zone.id,
    outpostArn: input.OutpostArn || undefined,
    encrypted,
    kmsKeyArn: encrypted ? keyArn(ec2, input.KmsKeyId || snapshot?.kmsKeyArn) : undefined,
    snapshotId: snapshot?.id,
    sourceVolumeId: undefined,
    fastRestored,
    initializationRate: input.VolumeInitializationRate,
    initialised: snapshot && initialisedAt(ec2, snapshot.sizeGiB, fastRestored, input.VolumeInitializationRate),
    tags: volumeTags(input),
  };
}

/** A copy stands in the zone of its source and is encrypted as that is, which must be encrypted itself. */
function plannedCopy(ec2: Ec2, input: CopyVolumesRequest): Planned {
  const source = find(ec2.volumes, KINDS.volume, input.SourceVolumeId!);
  if (source.state !== "available") {
    throw new ServiceError("IncorrectState", `The volume '${source.id}' is in the '${source.state}' state.`);
  }
  if (!source.encrypted) throw new ServiceError("UnsupportedOperation", `The volume '${source.id}' is not encrypted and cannot be copied.`);
  const sizeGiB = input.Size ?? source.spec.sizeGiB;
  if (sizeGiB < source.spec.sizeGiB) {
    throw new ServiceError(
      "InvalidParameterValue",
      `Volume of ${sizeGiB}GiB is smaller than its source, which has ${source.spec.sizeGiB}GiB.`,
    );
  }
  const spec = checkedSpec({
    type: input.VolumeType ?? "gp3",
    sizeGiB,
    iops: input.Iops,
    throughput: input.Throughput,
    multiAttach: input.MultiAttachEnabled ?? false,
  });
  checkQuotas(ec2, spec, undefined, "VolumeLimitExceeded");
  const { zone, zoneId, outpostArn, kmsKeyArn } = source;
  return {
    spec,
    zone,
    zoneId,
    outpostArn,
    encrypted: true,
    kmsKeyArn,
    snapshotId: undefined,
    sourceVolumeId: source.id,
    fastRestored: false,
    initializationRate: undefined,
    initialised: initialisedAt(ec2, source.spec.sizeGiB, false, undefined),
    tags: volumeTags(input),
  };
}

function zoneOf(ec2: Ec2, { AvailabilityZone: name, AvailabilityZoneId: id }: CreateVolumeRequest) {
  if (!name && !id) throw new ServiceError("MissingParameter", "The request must contain the parameter zone");
  if (name && id) {
    throw new ServiceError("InvalidParameterCombination", "AvailabilityZone and AvailabilityZoneId cannot be used together.");
  }
  const zone = zoneNamed(ec2, name || undefined, id || undefined);
  if (zone === undefined || !optedIn(ec2, zone)) {
    throw new ServiceError("InvalidZone.NotFound", `The zone '${name || id}' does not exist.`);
  }
  return zone;
}

function sizeOf({ Size: size }: CreateVolumeRequest, snapshot: Snapshot | undefined): number {
  if (snapshot === undefined) {
    if (size === undefined) throw new ServiceError("MissingParameter", "The request must contain the parameter size/snapshot");
    return size;
  }
  if (size !== undefined && size < snapshot.sizeGiB) {
    throw new ServiceError(
      "InvalidParameterValue",
      `Volume of ${size}GiB is smaller than snapshot '${snapshot.id}', expect size >= ${snapshot.sizeGiB}GiB`,
    );
  }
  return size ?? snapshot.sizeGiB;
}

function checkRate({ VolumeInitializationRate: rate }: CreateVolumeRequest, snapshot: Snapshot | undefined): void {
  if (rate === undefined) return;
  if (snapshot === undefined) {
    throw new ServiceError(
      "InvalidParameterCombination",
      "The parameter volumeInitializationRate needs a snapshot to fill the volume from.",
    );
  }
  if (rate < RATES.min || rate > RATES.max) {
    throw new ServiceError("InvalidParameterValue", `The volume initialization rate must be between ${RATES.min} and ${RATES.max} MiB/s.`);
  }
}

function initialisedAt(ec2: Ec2, sizeGiB: number, fastRestored: boolean, rate: number | undefined): number {
  const { time } = ec2.account;
  return fastRestored ? time.now() : time.now() + ((sizeGiB * 1024) / (rate ?? USUAL_RATE)) * (1000 / time.speed);
}

function volumeTags({ TagSpecifications }: CreateVolumeRequest | CopyVolumesRequest): Tags {
  return specifiedTags(TagSpecifications, KINDS.volume);
}
