/** The parameters of a StorageClass, and of the VolumeAttributesClass a claim may name beside it. */
import { invalidArgument } from "./csi/errors.ts";
import type { StringMap } from "./csi/messages.ts";
import { formatOptions, isPlainValue } from "./filesystem.ts";
import { contextKeys, tagKeys } from "./names.ts";

/** For whom a volume is made, as the provisioner tells it; empty when it does not. */
export interface ClaimNames {
  readonly claim: string;
  readonly namespace: string;
  readonly persistentVolume: string;
}

export interface VolumeParameters {
  readonly type: string;
  readonly iops: number | undefined;
  readonly iopsPerGb: number | undefined;
  readonly throughput: number | undefined;
  readonly allowIopsIncrease: boolean;
  readonly allowIopsIncreaseOnModify: boolean | undefined;
  /** Undefined when not said, which differs from `false` for a clone. */
  readonly encrypted: boolean | undefined;
  readonly kmsKeyId: string | undefined;
  readonly initializationRate: number | undefined;
  readonly names: ClaimNames;
  /** `tagSpecification*`, by parameter key. */
  readonly tags: StringMap;
  /** What the node has to know of them. */
  readonly context: StringMap;
  /** Accepted and of no effect: for the log. */
  readonly ignored: readonly string[];
}

type Mutable = { -readonly [Key in keyof VolumeParameters]: VolumeParameters[Key] };

export const defaultType = "gp3";
const metadataKeys = {
  "csi.storage.k8s.io/pvc/name": "claim",
  "csi.storage.k8s.io/pvc/namespace": "namespace",
  "csi.storage.k8s.io/pv/name": "persistentVolume",
} as const;
const noNames: ClaimNames = { claim: "", namespace: "", persistentVolume: "" };

type Reader = (into: Mutable, value: string, key: string) => void;

const number =
  (field: "iops" | "iopsPerGb" | "throughput" | "initializationRate", name: string): Reader =>
  (into, value) => {
    into[field] = int32(value) ?? unreadable(`Could not parse invalid ${name}: ${JSON.stringify(value)} is not a 32-bit integer`);
  };
const ignored: Reader = (into, _, key) => {
  into.ignored = [...into.ignored, key];
};
const context = (into: Mutable, key: string, value: string) => {
  into.context = { ...into.context, [key]: value };
};

/** What each key does, in lower case: the keys of a StorageClass are matched in any case. */
const readers: Readonly<Record<string, Reader>> = {
  fstype: ignored,
  blockexpress: ignored,
  type: (into, value) => {
    into.type = value;
  },
  iops: number("iops", "iops"),
  iopspergb: number("iopsPerGb", "iopsPerGB"),
  throughput: number("throughput", "throughput"),
  volumeinitializationrate: number("initializationRate", "volumeInitializationRate"),
  allowautoiopspergbincrease: (into, value) => {
    into.allowIopsIncrease = value === "true";
  },
  allowautoiopsincreaseonmodify: (into, value) => {
    into.allowIopsIncreaseOnModify = value === "true";
  },
  encrypted: (into, value) => {
    into.encrypted = value === "true";
  },
  kmskeyid: (into, value) => {
    into.kmsKeyId = value || undefined;
  },
  blockattachuntilinitialized: (into, value) => {
    if (value === "true") context(into, contextKeys.waitForInitialization, "true");
  },
  ...Object.fromEntries(
    formatOptions.map(({ name, key, kind }): [string, Reader] => [
      key,
      (into, value) => {
        if (kind === "flag") {
          if (value === "true") context(into, key, "true");
          return;
        }
        if (!isPlainValue(value)) unreadable(`Could not parse ${name} (${value}): <nil>`);
        if (value !== "") context(into, key, value);
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(metadataKeys).map(([key, field]): [string, Reader] => [
      key,
      (into, value) => {
        into.names = { ...into.names, [field]: value };
      },
    ]),
  ),
};

/** Reads the parameters of a StorageClass. */
export function readVolumeParameters(parameters: StringMap): VolumeParameters {
  const into: Mutable = {
    type: defaultType,
    iops: undefined,
    iopsPerGb: undefined,
    throughput: undefined,
    allowIopsIncrease: false,
    allowIopsIncreaseOnModify: undefined,
    encrypted: undefined,
    kmsKeyId: undefined,
    initializationRate: undefined,
    names: noNames,
    tags: {},
    context: {},
    ignored: [],
  };
  for (const [key, value] of Object.entries(parameters)) {
    if (isTagSpecification(key)) into.tags = { ...into.tags, [key]: value };
    else (readers[key.toLowerCase()] ?? unknownKey(key))(into, value, key);
  }
  return into;
}

function unknownKey(key: string): never {
  throw invalidArgument(`Invalid parameter key ${key} for CreateVolume`);
}

/** What a VolumeAttributesClass asks for. */
export interface Modification {
  readonly type?: string;
  readonly iops?: number;
  readonly throughput?: number;
  readonly iopsPerGb?: number;
  readonly allowIopsIncrease?: boolean;
  readonly names: ClaimNames;
  /** `tagSpecification*`, by parameter key. */
  readonly tags: StringMap;
  /** Tags that a parameter writes by itself. */
  readonly ownTags: StringMap;
  /** Keys of tags to remove, sorted. */
  readonly tagDeletions: readonly string[];
}

/** Reads the mutable parameters of a volume that is being made: values only, and tags. Keys are case-sensitive. */
export function readMutableAtCreation(parameters: StringMap): Modification {
  for (const key of Object.keys(parameters)) {
    if (!["iops", "throughput", "type", "volumeType"].includes(key) && !isTagSpecification(key)) unknownMutable(key);
  }
  return readModification(parameters);
}

/** Reads the mutable parameters of a volume that exists. Keys are case-sensitive. */
export function readModification(parameters: StringMap): Modification {
  const read: { -readonly [Key in keyof Modification]: Modification[Key] } = { names: noNames, tags: {}, ownTags: {}, tagDeletions: [] };
  for (const [key, value] of Object.entries(parameters)) {
    if (isTagSpecification(key)) read.tags = { ...read.tags, [key]: value };
    else if (key.startsWith("tagDeletion")) read.tagDeletions = [...read.tagDeletions, value].sort();
    else if (key === "type" || (key === "volumeType" && parameters.type === undefined)) read.type = value;
    else if (key === "volumeType") continue;
    else if (key === "iops") read.iops = mutableNumber("IOPS", value);
    else if (key === "throughput") read.throughput = mutableNumber("throughput", value);
    else if (key === "iopspergb") {
      read.iopsPerGb = mutableNumber("IopsPerGb", value);
      read.ownTags = { ...read.ownTags, [tagKeys.iopsPerGb]: value };
    } else if (key === "allowautoiopsincreaseonmodify") {
      read.allowIopsIncrease = value === "true";
      read.ownTags = { ...read.ownTags, [tagKeys.allowIopsIncrease]: value };
    } else if (Object.hasOwn(metadataKeys, key)) {
      read.names = { ...read.names, [metadataKeys[key as keyof typeof metadataKeys]]: value };
    } else unknownMutable(key);
  }
  return read;
}

function unknownMutable(key: string): never {
  throw invalidArgument(`Invalid mutable parameter key: ${key}`);
}

function mutableNumber(what: string, value: string): number {
  return int32(value) ?? unreadable(`Could not parse ${what}: ${JSON.stringify(value)}`);
}

/** Whether a parameter asks for a tag. */
export function isTagSpecification(key: string): boolean {
  return key.startsWith("tagSpecification");
}

/** A decimal number of 32 bits, as Go reads it. */
export function int32(text: string): number | undefined {
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= -(2 ** 31) && value < 2 ** 31 ? value : undefined;
}

function unreadable(message: string): never {
  throw invalidArgument(message);
}
