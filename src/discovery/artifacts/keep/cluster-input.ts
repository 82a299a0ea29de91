/** What the artifacts are made from, as the cluster holds it. */
import type { Frozen } from "../../../kube/resource.ts";
import type { ConfigMap, Secret, StorageClass } from "../../../kube/types.ts";
import { configurationSecret, infrastructureKey } from "../../objects.ts";
import {
  type ArtifactsInput,
  ArtifactsInputInvalid,
  type ArtifactsSettings,
  checkArtifactsInput,
  parseYaml,
  readSettings,
} from "../input.ts";
import { type DefaultSaidBy, defaultIn } from "./default-class.ts";
import { cniSecretName } from "./plan.ts";

/** The user's configuration, in the same Secret as the infrastructure's output. */
export const configurationKey = "cloud-provider-cluster-configuration.yaml";
export const uuidMap = { namespace: "kube-system", name: "d8-cluster-uuid" };
export const uuidKey = "cluster-uuid";
export const settingsKey = "settings.yaml";

export interface SeenInput {
  readonly configuration: Frozen<Secret> | undefined;
  readonly uuid: Frozen<ConfigMap> | undefined;
  /** Undefined: the defaults. */
  readonly settings: Frozen<ConfigMap> | undefined;
  readonly cni: Frozen<Secret> | undefined;
  readonly storageClasses: readonly Frozen<StorageClass>[];
}

/** The input, and who says which class is the default. Throws `ArtifactsInputInvalid` with everything that is wrong with it. */
export function clusterInput({ configuration, uuid, settings, cni, storageClasses }: SeenInput): {
  readonly input: ArtifactsInput;
  readonly defaultSaidBy: DefaultSaidBy;
} {
  if (configuration === undefined) {
    const { namespace, name } = configurationSecret;
    throw new ArtifactsInputInvalid([`can't find Secret ${name} in Namespace ${namespace}`]);
  }
  if (cni !== undefined && cni.data?.cni === undefined) {
    throw new ArtifactsInputInvalid([`Secret kube-system/${cniSecretName} has no key cni`]);
  }
  const clusterUUID = uuid?.data?.[uuidKey] ?? "";
  if (clusterUUID === "") {
    throw new ArtifactsInputInvalid([`ConfigMap ${uuidMap.name} in Namespace ${uuidMap.namespace} has no key ${uuidKey}`]);
  }
  const chosen = settingsOf(settings);
  const found = defaultIn(storageClasses);
  const input = checkArtifactsInput({
    ...chosen,
    clusterUUID,
    clusterConfiguration: documentOf(configuration, configurationKey),
    discoveryData: documentOf(configuration, infrastructureKey),
    defaultStorageClass: chosen.defaultStorageClass || found,
  });
  return { input, defaultSaidBy: chosen.defaultStorageClass !== "" ? "settings" : found !== "" ? "cluster" : "nobody" };
}

/** What is wrong with the settings; it is told of their ConfigMap. */
export class SettingsInvalid extends ArtifactsInputInvalid {}

function settingsOf(map: SeenInput["settings"]): ArtifactsSettings {
  if (map !== undefined && map.data?.[settingsKey] === undefined) {
    const keys = Object.keys(map.data ?? {}).join(", ") || "none";
    throw new SettingsInvalid([`ConfigMap ${map.metadata?.name} has no key ${settingsKey}; it has: ${keys}`]);
  }
  try {
    return readSettings(map?.data?.[settingsKey] ?? "");
  } catch (error) {
    throw error instanceof ArtifactsInputInvalid ? new SettingsInvalid(error.problems) : error;
  }
}

function documentOf({ data }: Frozen<Secret>, key: string): unknown {
  try {
    return parseYaml(Buffer.from(data?.[key] ?? "", "base64").toString("utf8"));
  } catch (error) {
    if (!(error instanceof ArtifactsInputInvalid)) throw error;
    throw new ArtifactsInputInvalid(error.problems.map((problem) => `validate ${key}: ${problem}`));
  }
}
