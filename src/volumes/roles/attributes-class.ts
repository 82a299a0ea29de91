/** The VolumeAttributesClass that a claim names. */
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { VolumeAttributesClass } from "../../kube/types.ts";
import { CsiError } from "../csi/errors.ts";
import type { StringMap } from "../csi/messages.ts";
import { driverName } from "../names.ts";
import { betaVolumeAttributesClasses, servesAttributesClasses, volumeAttributesClasses } from "../storage-resources.ts";

/** Its parameters; undefined when there is no such class. Throws when it is of another driver. */
export async function attributesOf(kube: KubeClient, name: string, signal: AbortSignal): Promise<StringMap | undefined> {
  const found = await classNamed(kube, name, signal);
  if (found !== undefined && found.driverName !== driverName) {
    throw new CsiError("InvalidArgument", `VolumeAttributesClass ${name} is of the driver ${found.driverName}, not of ${driverName}`);
  }
  return found && (found.parameters ?? {});
}

/** A server that lacks the kind answers like one that lacks the class. */
async function classNamed(kube: KubeClient, name: string, signal: AbortSignal): Promise<VolumeAttributesClass | undefined> {
  const get = (of: typeof volumeAttributesClasses) =>
    kube.get(of, { name }, { signal }).catch((error: unknown) => {
      if (isApiError(error, "not-found")) return undefined;
      throw error;
    });
  const found = await get(volumeAttributesClasses);
  return found ?? ((await servesAttributesClasses(kube)) ? undefined : get(betaVolumeAttributesClasses));
}
