/** Whether the driver could serve a StorageClass, found out without a claim of it. */
import type { StorageClass } from "../kube/types.ts";
import { textOf } from "./csi/errors.ts";
import { inTreeName, translatedClass } from "./migration.ts";
import { readVolumeParameters } from "./parameters.ts";

const sidecarPrefix = "csi.storage.k8s.io/";

/** Why the driver would refuse every claim of the class; undefined when it would not. */
export function judgeClass(storageClass: StorageClass): string | undefined {
  try {
    const { parameters = {} } = storageClass.provisioner === inTreeName ? translatedClass(storageClass) : storageClass;
    readVolumeParameters(Object.fromEntries(Object.entries(parameters).filter(([key]) => !key.startsWith(sidecarPrefix))));
    return undefined;
  } catch (error) {
    return textOf(error);
  }
}
