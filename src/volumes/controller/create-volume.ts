/**
 * CreateVolume. EC2 makes one volume for one client token, so the same name leads to the same volume whatever is lost on the
 * way. A final refusal is given only when no volume carries the name: the provisioner forgets a claim that is refused for good,
 * and a volume that was made all the same would have no owner.
 */
import { copyVolumes, createVolume as createVolumeAction, deleteVolume as deleteVolumeAction } from "../../aws/ec2-actions.ts";
import { isAwsError } from "../../aws/errors.ts";
import type { Volume } from "../../aws/volumes.ts";
import { bytesOf } from "../capacity.ts";
import { CsiError, invalidArgument, textOf } from "../csi/errors.ts";
import type { CreateVolumeRequest, VolumeAnswer } from "../csi/messages.ts";
import { cappedIops } from "../iops.ts";
import { isSnapshotId, isVolumeId, tagKeys } from "../names.ts";
import { inFlightMs, lagMs, poll, type Schedule, Span } from "../poll.ts";
import { isAllowed, segmentsOf } from "../topology.ts";
import { ask, type ControllerContext, type Rpc } from "./context.ts";
import { type Creation, checkShape, planCreation } from "./plan-create.ts";

/** A volume is usually there within three seconds; the provisioner waits for a minute. */
const creationSchedule: Schedule = { firstMs: 1_000, factor: 1.4, maxMs: 6_000, overallMs: 45_000 };
/** An accepted volume that EC2 still does not know after this long is not coming. */
const neverSeenMs = 20_000;
/** EC2's refusal of a token whose volume is not to be found is believed when it is repeated after this long. */
const tokenGraceMs = 10_000;

export async function createVolume(request: CreateVolumeRequest, rpc: Rpc, context: ControllerContext): Promise<VolumeAnswer> {
  const shape = checkShape(request);
  const { name } = request;
  return context.inFlight.run(name, `Create volume request for ${name} is already in progress`, async () => {
    const { log } = context.host;
    const planned = planCreation(request, shape, context.settings.tags, (message) => log.warn(message, { volume: name }));
    try {
      const source = await checkedSource(planned, request, rpc, context);
      const volume = await (source instanceof CsiError
        ? madeBefore(planned, () => source, rpc, context).then(({ id }) => available(id, planned, rpc, context))
        : makeVolume(await placed(source, rpc, context), rpc, context));
      context.made.note(volume.id, name);
      return answerFor(volume, planned, request);
    } catch (error) {
      if (error instanceof CsiError) throw error;
      // A question to EC2 failed. This request, or one before it, may have made the volume: the next one finds out.
      throw new CsiError("Aborted", failure(planned, textOf(error)), { cause: error });
    }
  });
}

/** With the place of its source, if that is a volume; why no copy can be made of it otherwise. */
async function checkedSource(
  creation: Creation,
  request: CreateVolumeRequest,
  rpc: Rpc,
  context: ControllerContext,
): Promise<Creation | CsiError> {
  const { source } = creation;
  if (source.kind === "none") return creation;
  if (source.kind === "snapshot") {
    if (!isSnapshotId(source.id)) throw new CsiError("NotFound", `Snapshot ${JSON.stringify(source.id)} not found`);
    return creation;
  }
  if (creation.refusesEncryption) throw invalidArgument("Cannot make an unencrypted clone");
  const missing = new CsiError("NotFound", `Source volume ${JSON.stringify(source.id)} not found`);
  if (!isVolumeId(source.id)) throw missing;
  const found = await context.cloud.volumes.lookup(source.id, ask(rpc));
  if (found.kind === "absent") throw new CsiError("Aborted", failure(creation, `EC2's answer lacks ${source.id}`));
  if (found.kind !== "found") return missing;
  const { volume } = found;
  if (creation.kmsKeyId !== undefined && creation.kmsKeyId !== volume.kmsKeyId) {
    throw invalidArgument("Cannot provision clone with different KMS key than source volume");
  }
  if (!isAllowed(request.accessibilityRequirements, volume)) {
    return new CsiError("ResourceExhausted", "Cannot provision clone with the specified topology constraints");
  }
  return { ...creation, placement: { zone: volume.zone, zoneId: undefined, outpostArn: volume.outpostArn } };
}

/** With a zone, and with the IOPS that it offers. Both are the same at each try, because EC2 compares the requests of one token. */
async function placed(creation: Creation, rpc: Rpc, context: ControllerContext): Promise<Creation> {
  let { placement } = creation;
  if (placement.zone === undefined && placement.zoneId === undefined) {
    placement = { ...placement, zone: await anyZone(creation.name, rpc, context) };
  }
  const zoneMax = creation.iops > 0 ? await context.zoneIops.max(creation.type, placement, rpc) : undefined;
  const iops = cappedIops({ ...creation, mayIncrease: creation.mayIncreaseIops, zoneMax }) ?? 0;
  return { ...creation, placement, iops };
}

/** Volumes that may be anywhere are spread over the zones by their names. */
async function anyZone(name: string, rpc: Rpc, { cloud, settings }: ControllerContext): Promise<string> {
  if (settings.ownZone !== undefined) return settings.ownZone;
  const zones = (await cloud.availabilityZones.all(ask(rpc)))
    .filter(({ type }) => type === "availability-zone")
    .map((zone) => zone.name)
    .sort();
  if (zones.length === 0) throw new CsiError("Aborted", `Could not create volume ${JSON.stringify(name)}: EC2 names no zone of the region`);
  const sum = [...name].reduce((hash, letter) => (hash * 31 + letter.codePointAt(0)!) % 2 ** 31, 7);
  return zones[sum % zones.length]!;
}

async function makeVolume(creation: Creation, rpc: Rpc, context: ControllerContext): Promise<Volume> {
  const { name } = creation;
  const { token, isFirst } = context.tokens.tokenFor(name);
  // A later token is used only when the first volume is gone. Before it makes another one, see that none is there.
  const known = isFirst ? undefined : await volumeNamed(creation, rpc, context);
  const id = known?.id ?? (await requested(creation, token, rpc, context));
  return available(id, creation, rpc, context);
}

/** The id of the volume that EC2 makes, or has made before, for this request. */
async function requested(creation: Creation, token: string, rpc: Rpc, context: ControllerContext): Promise<string> {
  try {
    const options = { ...ask(rpc), target: creation.name, repeatable: true };
    const answer =
      creation.source.kind === "volume"
        ? (await context.cloud.call(copyVolumes, copyInput(creation, creation.source.id, token), options)).Volumes?.[0]
        : await context.cloud.call(createVolumeAction, createInput(creation, token), options);
    if (!answer?.VolumeId) throw new CsiError("Aborted", failure(creation, "EC2 answered without a volume"));
    context.tokens.accepted(creation.name);
    return answer.VolumeId;
  } catch (error) {
    if (!isAwsError(error) || error.mayHaveHappened) context.uncertainVolumes.note(creation.name);
    if (!isAwsError(error)) throw error;
    // Nobody knows whether there is a volume: the same request finds out.
    if (["throttled", "transient"].includes(error.class)) throw new CsiError("Aborted", failure(creation, error.message), { cause: error });
    return (await madeBefore(creation, () => refusal(creation, error, context), rpc, context)).id;
  }
}

/** The volume of the name, which a request before this one had made; the refusal of this one when there is none and none can come. */
async function madeBefore(creation: Creation, refuse: () => CsiError, rpc: Rpc, context: ControllerContext): Promise<Volume> {
  const { tokens, uncertainVolumes } = context;
  const made = await volumeNamed(creation, rpc, context);
  if (made !== undefined) {
    tokens.accepted(creation.name);
    return made;
  }
  const refused = refuse();
  const mayCome = (uncertainVolumes.ageMs(creation.name) ?? inFlightMs) < inFlightMs;
  throw mayCome ? new CsiError("Aborted", refused.message, { cause: refused }) : refused;
}

const refusalCodes = {
  "not-found": "NotFound",
  invalid: "InvalidArgument",
  unsupported: "InvalidArgument",
  "limit-exceeded": "ResourceExhausted",
  denied: "PermissionDenied",
} as const;

/** EC2 has refused, and there is no volume of the name. */
function refusal(creation: Creation, error: unknown, { tokens }: ControllerContext): CsiError {
  if (!isAwsError(error)) return new CsiError("Aborted", failure(creation, textOf(error)));
  if (error.code === "IdempotentParameterMismatch") {
    tokens.refused(creation.name, tokenGraceMs);
    return new CsiError("Aborted", failure(creation, `an earlier volume of this name is gone. ${keyHint(creation)}${error.message}`));
  }
  const code = refusalCodes[error.class as keyof typeof refusalCodes] ?? "Aborted";
  return new CsiError(code, failure(creation, error.message), { cause: error });
}

/** The volume that carries the name; a refusal when it is another than the one asked for, or there are several. */
async function volumeNamed(creation: Creation, rpc: Rpc, { cloud }: ControllerContext): Promise<Volume | undefined> {
  const { name, sizeGiB, type, source, encrypted, multiAttach } = creation;
  const all = await cloud.volumes.tagged(tagKeys.volumeName, name, ask(rpc));
  const found = all.filter(({ state }) => state !== "deleting" && state !== "deleted" && state !== "error");
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(", ");
    throw new CsiError("Aborted", failure(creation, `there are several volumes of this name: ${ids}`));
  }
  const volume = found[0];
  if (volume === undefined) return undefined;
  const sameSource = source.kind !== "snapshot" || volume.snapshotId === source.id;
  const lacks = [
    ...(encrypted && !volume.encrypted ? ["not encrypted"] : []),
    ...(multiAttach && !volume.multiAttach ? ["for one node"] : []),
  ];
  const sameKind = volume.sizeGiB === sizeGiB && volume.type.toLowerCase() === type.toLowerCase();
  if (sameKind && sameSource && lacks.length === 0) return volume;
  const origin = volume.snapshotId ? ` from ${volume.snapshotId}` : "";
  const what = [`${volume.sizeGiB} GiB of ${volume.type}${origin}`, ...lacks].join(", ");
  throw new CsiError("AlreadyExists", failure(creation, `${volume.id} has this name already, with ${what}`));
}

/** The volume once it can be used. */
async function available(id: string, creation: Creation, rpc: Rpc, context: ControllerContext): Promise<Volume> {
  const { cloud, host, tokens } = context;
  const missing = new Span(host.world.clock);
  let seen = false;
  const volume = await poll(host.world.clock, creationSchedule, rpc.signal, async () => {
    const found = await cloud.volumes.lookup(id, ask(rpc));
    const missingMs = missing.note(found.kind !== "found");
    if (found.kind === "found") {
      seen = true;
      if (found.volume.state === "available" || found.volume.state === "in-use") return found.volume;
      if (found.volume.state === "deleting" || found.volume.state === "deleted") {
        // The token's volume was made and deleted before: this request is for another one.
        tokens.rotate(creation.name);
        throw new CsiError("Aborted", failure(creation, `${id} had this name and is being deleted`));
      }
      if (found.volume.state === "error") await discard(id, creation, rpc, context);
      return undefined;
    }
    // It was there and is gone, and not because an answer lags behind: it will not come back, and nothing is left of it.
    if (seen && missingMs! >= lagMs) {
      tokens.rotate(creation.name);
      throw invalidArgument(failure(creation, `EC2 accepted ${id} and removed it again. ${keyHint(creation)}`));
    }
    if (!seen && missingMs! >= neverSeenMs) {
      throw new CsiError("Aborted", failure(creation, `EC2 accepted ${id} and does not show it. ${keyHint(creation)}`));
    }
    return undefined;
  });
  if (volume === undefined) throw new CsiError("Aborted", failure(creation, `${id} is not available yet`));
  return volume;
}

/** A volume that failed stays in its state for ever. It was made for this request alone. */
async function discard(id: string, creation: Creation, rpc: Rpc, { cloud, tokens }: ControllerContext): Promise<never> {
  await cloud.call(deleteVolumeAction, { VolumeId: id }, { ...ask(rpc), target: id, repeatable: true });
  tokens.rotate(creation.name);
  throw new CsiError("Aborted", failure(creation, `${id} ended in the state error and was removed. ${keyHint(creation)}`));
}

const keyActions = "kms:CreateGrant, kms:Decrypt, kms:DescribeKey and kms:GenerateDataKeyWithoutPlaintext";

/** The usual reason for an encrypted volume that comes and goes. */
function keyHint({ encrypted, kmsKeyId }: Creation): string {
  if (!encrypted) return "";
  const key = kmsKeyId === undefined ? "the account's default key for EBS" : `the key ${kmsKeyId}`;
  return `That happens when ${key} cannot be used: allow ${keyActions} on it, in its policy and in that of this driver's role. `;
}

function failure({ name }: Creation, why: string): string {
  return `Could not create volume ${JSON.stringify(name)}: ${why.trim()}`;
}

function answerFor(volume: Volume, creation: Creation, request: CreateVolumeRequest): VolumeAnswer {
  return {
    volumeId: volume.id,
    capacityBytes: bytesOf(volume.sizeGiB),
    volumeContext: creation.context,
    contentSource: creation.source.kind === "none" ? null : request.volumeContentSource,
    accessibleTopology: [segmentsOf(volume)],
  };
}

function createInput(creation: Creation, token: string) {
  const { placement, source } = creation;
  return {
    ...commonInput(creation, token),
    Encrypted: creation.encrypted,
    ...(placement.zone === undefined ? { AvailabilityZoneId: placement.zoneId } : { AvailabilityZone: placement.zone }),
    ...(placement.outpostArn === undefined ? {} : { OutpostArn: placement.outpostArn }),
    ...(creation.kmsKeyId === undefined ? {} : { KmsKeyId: creation.kmsKeyId }),
    ...(source.kind === "snapshot" ? { SnapshotId: source.id } : {}),
    ...(creation.initializationRate === undefined ? {} : { VolumeInitializationRate: creation.initializationRate }),
  };
}

function copyInput(creation: Creation, sourceId: string, token: string) {
  return { ...commonInput(creation, token), SourceVolumeId: sourceId };
}

function commonInput(creation: Creation, token: string) {
  return {
    ClientToken: token,
    Size: creation.sizeGiB,
    VolumeType: creation.type as "gp3",
    MultiAttachEnabled: creation.multiAttach,
    ...(creation.iops > 0 ? { Iops: creation.iops } : {}),
    ...(creation.throughput === undefined ? {} : { Throughput: creation.throughput }),
    TagSpecifications: [{ ResourceType: "volume" as const, Tags: Object.entries(creation.tags).map(([Key, Value]) => ({ Key, Value })) }],
  };
}
