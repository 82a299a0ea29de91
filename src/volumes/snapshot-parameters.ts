/** The parameters of a VolumeSnapshotClass. */
import { invalidArgument } from "./csi/errors.ts";
import type { StringMap } from "./csi/messages.ts";
import { int32, isTagSpecification } from "./parameters.ts";
import type { TemplateData } from "./template.ts";

export interface SnapshotLockWish {
  readonly mode?: string;
  readonly durationDays?: number;
  /** Milliseconds since the epoch. */
  readonly expires?: number;
  readonly coolOffHours?: number;
}

export interface SnapshotParameters {
  readonly fastRestoreZones: readonly string[];
  readonly outpostArn: string | undefined;
  /** Undefined when no lock is asked for. */
  readonly lock: SnapshotLockWish | undefined;
  /** `tagSpecification*`, by parameter key. */
  readonly tags: StringMap;
  readonly variables: TemplateData;
}

const metadataKeys: Readonly<Record<string, string>> = {
  "csi.storage.k8s.io/volumesnapshot/name": "VolumeSnapshotName",
  "csi.storage.k8s.io/volumesnapshot/namespace": "VolumeSnapshotNamespace",
  "csi.storage.k8s.io/volumesnapshotcontent/name": "VolumeSnapshotContentName",
};
const noVariables: TemplateData = Object.fromEntries(Object.values(metadataKeys).map((name) => [name, ""]));

/** Reads them; keys are matched in any case, but for those of tags. */
export function readSnapshotParameters(parameters: StringMap): SnapshotParameters {
  let read: SnapshotParameters = { fastRestoreZones: [], outpostArn: undefined, lock: undefined, tags: {}, variables: noVariables };
  const lock = (part: SnapshotLockWish) => {
    read = { ...read, lock: { ...read.lock, ...part } };
  };
  for (const [key, value] of Object.entries(parameters)) {
    const name = key.toLowerCase();
    if (isTagSpecification(key)) read = { ...read, tags: { ...read.tags, [key]: value } };
    else if (metadataKeys[name] !== undefined) read = { ...read, variables: { ...read.variables, [metadataKeys[name]]: value } };
    else if (name === "fastsnapshotrestoreavailabilityzones") read = { ...read, fastRestoreZones: value.replaceAll(" ", "").split(",") };
    else if (name === "outpostarn") read = { ...read, outpostArn: checkedArn(value) };
    else if (name === "lockmode") lock({ mode: value });
    else if (name === "lockduration") lock({ durationDays: int32(value) ?? unreadable("Duration", value) });
    else if (name === "lockcooloffperiod") lock({ coolOffHours: int32(value) ?? unreadable("CoolOffPeriod", value) });
    else if (name === "lockexpirationdate") lock({ expires: rfc3339(value) ?? unreadable("ExpirationDate", value) });
    else throw invalidArgument(`Invalid parameter key ${key} for CreateSnapshot`);
  }
  return read;
}

function checkedArn(value: string): string {
  if (!value.startsWith("arn:") || value.split(":").length < 6)
    throw invalidArgument(`Invalid parameter value ${value} is not a valid arn`);
  return value;
}

function rfc3339(text: string): number | undefined {
  const value = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(value) ? undefined : value;
}

function unreadable(what: string, value: string): never {
  throw invalidArgument(`Could not parse SnapshotLock${what}: ${JSON.stringify(value)}`);
}
