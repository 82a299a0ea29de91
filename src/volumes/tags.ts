/** The tags of volumes and snapshots: ours, the cluster's, and those that users ask for. */
import type { Tags } from "../aws/instance.ts";
import { invalidArgument, textOf } from "./csi/errors.ts";
import type { StringMap } from "./csi/messages.ts";
import { driverName, tagKeys } from "./names.ts";
import type { VolumeParameters } from "./parameters.ts";
import { renderTemplate, type TemplateData } from "./template.ts";

/** What the operator says about tags. */
export interface TagSettings {
  /** On everything that is made. */
  readonly extraTags: StringMap;
  readonly clusterId: string | undefined;
  /** Leave a bad tag out instead of refusing the request. */
  readonly warnOnInvalid: boolean;
}

const reservedKeys: readonly string[] = [tagKeys.volumeName, tagKeys.snapshotName, tagKeys.clusterName];
const reservedPrefixes: readonly string[] = ["kubernetes.io", `${driverName}/`];

/** Why users may not use a tag key; undefined when they may. */
export function reservedTag(key: string): string | undefined {
  if (reservedKeys.includes(key)) return `tag key '${key}' is reserved`;
  const prefix = reservedPrefixes.find((each) => key.startsWith(each));
  return prefix === undefined ? undefined : `tag key prefix '${prefix}' is reserved`;
}

/** The tags of a volume that is made for a claim. Users' tags come last: a class goes before the operator's extra tags. */
export function volumeTags(name: string, parameters: VolumeParameters, mutableTags: StringMap, settings: TagSettings, warn: Warn): Tags {
  const { names, iopsPerGb, allowIopsIncreaseOnModify: allow } = parameters;
  return {
    [tagKeys.volumeName]: name,
    [tagKeys.driver]: "true",
    ...present(tagKeys.iopsPerGb, iopsPerGb === undefined ? "" : String(iopsPerGb)),
    ...present(tagKeys.allowIopsIncrease, allow === undefined ? "" : String(allow)),
    ...present(tagKeys.claimName, names.claim),
    ...present(tagKeys.claimNamespace, names.namespace),
    ...present(tagKeys.persistentVolume, names.persistentVolume),
    ...clusterTags(settings.clusterId, name, true),
    ...userTags([settings.extraTags, specified(parameters.tags), specified(mutableTags)], claimVariables(names), settings, warn),
  };
}

/** The tags of a snapshot. */
export function snapshotTags(name: string, classTags: StringMap, data: TemplateData, settings: TagSettings, warn: Warn): Tags {
  return {
    [tagKeys.snapshotName]: name,
    [tagKeys.driver]: "true",
    ...clusterTags(settings.clusterId, name, false),
    ...userTags([settings.extraTags, specified(classTags)], data, settings, warn),
  };
}

/** The tags that a modification adds. A bad one refuses it, whatever the operator says of tags at creation. */
export function modificationTags(tags: StringMap, names: VolumeParameters["names"]): Tags {
  return userTags([specified(tags)], claimVariables(names), { warnOnInvalid: false }, () => {});
}

type Warn = (message: string) => void;

function present(key: string, value: string): Tags {
  return value === "" ? {} : { [key]: value };
}

function clusterTags(id: string | undefined, name: string, isVolume: boolean): Tags {
  if (!id) return {};
  return {
    [tagKeys.clusterPrefix + id]: "owned",
    Name: `${id}-dynamic-${name}`,
    ...(isVolume ? { [tagKeys.legacyCluster]: id } : {}),
    [tagKeys.clusterName]: id,
  };
}

/** `key=template` of each tag specification, in the order of the parameters' names. */
function specified(parameters: StringMap): StringMap {
  const pairs = Object.entries(parameters).map(([parameter, text]): [string, string] => {
    const equals = text.indexOf("=");
    if (equals < 0)
      throw invalidArgument(`Error interpolating tag value: ${parameter}: ${JSON.stringify(text)} is not of the form key=value`);
    return [text.slice(0, equals), text.slice(equals + 1)];
  });
  return Object.fromEntries(pairs);
}

/** Later sources win. */
function userTags(sources: readonly StringMap[], data: TemplateData, settings: Pick<TagSettings, "warnOnInvalid">, warn: Warn): Tags {
  const tags: Record<string, string> = {};
  for (const [key, template] of Object.entries(Object.assign({}, ...sources) as StringMap)) {
    try {
      tags[key] = userTag(key, template, data);
    } catch (error) {
      if (!settings.warnOnInvalid) throw error;
      warn(`tag ${key} is left out: ${textOf(error)}`);
    }
  }
  return tags;
}

function userTag(key: string, template: string, data: TemplateData): string {
  const reserved = reservedTag(key);
  if (reserved !== undefined) throw invalidArgument(`Invalid tag value: ${reserved}`);
  try {
    return renderTemplate(template, data);
  } catch (error) {
    throw invalidArgument(`Error interpolating tag value: ${key}: ${textOf(error)}`);
  }
}

function claimVariables(names: VolumeParameters["names"]): TemplateData {
  return { PVCName: names.claim, PVCNamespace: names.namespace, PVName: names.persistentVolume };
}

/**
 * Whether something was made by this driver, by its reference, by Kubernetes before there was CSI, or for this cluster. What
 * carries no such mark belongs to somebody else, whatever a PersistentVolume says, and is never deleted.
 */
export function isMarked(tags: Tags, clusterId: string | undefined): boolean {
  return (
    tags[tagKeys.driver] === "true" ||
    [tagKeys.volumeName, tagKeys.snapshotName, tagKeys.claimName].some((key) => tags[key] !== undefined) ||
    (!!clusterId && (tags[tagKeys.clusterPrefix + clusterId] === "owned" || tags[tagKeys.legacyCluster] === clusterId))
  );
}

/** The marks by name, for a refusal. */
export const markNames: readonly string[] = [tagKeys.driver, tagKeys.volumeName, tagKeys.claimName];
