/**
 * Target groups that several clusters fill: each writes down which targets are its own, and deregisters no others. The
 * record is a ConfigMap beside the binding, as the reference has it.
 */
import { configMaps } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import { apiVersion } from "../../kube/resource.ts";
import { type SeenBinding, targetGroupBindings } from "./binding.ts";
import { identityOf } from "./checkpoint.ts";
import type { SeenTarget } from "./group-targets.ts";

const key = "targets";
const nameFor = ({ metadata }: SeenBinding) => `aws-lbc-targets-${metadata.name}`;

/** The identities that were written down; undefined when there is no record. */
export type TargetRecord = ReadonlySet<string> | undefined;

export class TargetRecords {
  readonly #kube: KubeClient;
  /** By the binding's UID. */
  readonly #known = new Map<string, ReadonlySet<string>>();

  constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  async read(binding: SeenBinding, signal: AbortSignal): Promise<TargetRecord> {
    const { uid, namespace } = binding.metadata;
    const known = this.#known.get(uid);
    if (known !== undefined) return known;
    try {
      const { data } = await this.#kube.get(configMaps, { namespace, name: nameFor(binding) }, { signal });
      const record = new Set((data?.[key] ?? "").split(",").filter((each) => each !== ""));
      this.#known.set(uid, record);
      return record;
    } catch (error) {
      if (isApiError(error, "not-found")) return undefined;
      throw error;
    }
  }

  /** Before anything is registered, so that a crash leaves nothing unrecorded. Writes nothing that is written already. */
  async write(binding: SeenBinding, identities: readonly string[], signal: AbortSignal): Promise<void> {
    const { uid, namespace, name: owner } = binding.metadata;
    const sorted = identities.toSorted();
    const before = await this.read(binding, signal);
    if (before !== undefined && sorted.length === before.size && sorted.every((each) => before.has(each))) return;
    const name = nameFor(binding);
    const data = { [key]: sorted.join(",") };
    this.#known.delete(uid);
    if (before === undefined) {
      const ownerReferences = [{ apiVersion: apiVersion(targetGroupBindings), kind: targetGroupBindings.kind, name: owner, uid }];
      await this.#kube.create(configMaps, { metadata: { namespace, name, ownerReferences }, data }, { signal });
    } else await this.#kube.patch(configMaps, { namespace, name }, { merge: { data } }, { signal });
    this.#known.set(uid, new Set(sorted));
  }

  async delete(binding: SeenBinding, signal: AbortSignal): Promise<void> {
    this.#known.delete(binding.metadata.uid);
    try {
      await this.#kube.delete(configMaps, { namespace: binding.metadata.namespace, name: nameFor(binding) }, { signal });
    } catch (error) {
      if (!isApiError(error, "not-found")) throw error;
    }
  }

  forget(uid: string): void {
    this.#known.delete(uid);
  }
}

/** Those of the targets that are this cluster's; none where nothing was written down. */
export function recorded(targets: readonly SeenTarget[], record: TargetRecord): readonly SeenTarget[] {
  return targets.filter((target) => record?.has(identityOf(target)));
}
