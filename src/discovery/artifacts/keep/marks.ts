/** By which labels objects of the provider's module are known. */
import type { Frozen, KubeObject } from "../../../kube/resource.ts";
import { labels } from "../../objects.ts";

/** Whether an object is one that the provider's module keeps. */
export function isOurs({ metadata }: Frozen<KubeObject>): boolean {
  return metadata?.labels?.heritage === labels.heritage && metadata.labels.module === labels.module;
}
