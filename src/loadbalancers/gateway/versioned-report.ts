/**
 * Writes an object only as it was seen, or as it was left by our own writes since: lists of conditions and finalizers are replaced as
 * a whole, and what somebody else has written into them meanwhile must not be lost.
 */
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { KubeObject, Resource } from "../../kube/resource.ts";
import { ControllerReport, type Reported, type ReportParts } from "../controller-report.ts";

/** Of so many objects own writes are remembered. */
const maxObjects = 1_000;

/** Versions of an object of which each came from the one before by a write of ours. */
interface OwnVersions {
  readonly all: Set<string>;
  last: string;
}

export class VersionedReport<Of extends Reported> extends ControllerReport<Of> {
  readonly #kube: KubeClient;
  readonly #of: Resource<KubeObject>;
  /** By UID. */
  readonly #versions = new Map<string, OwnVersions>();

  constructor(of: Resource<KubeObject>, parts: ReportParts, texts: ConstructorParameters<typeof ControllerReport<Of>>[2] = {}) {
    super(of, parts, texts);
    this.#kube = parts.kube;
    this.#of = of;
  }

  /** False when the object is gone, or somebody else has changed it since it was seen: the next look sees what this one has missed. */
  protected override async patch(object: Of, merge: object, subresource: "status" | undefined, signal: AbortSignal): Promise<boolean> {
    const { namespace, name, uid, resourceVersion: seen } = object.metadata;
    const known = this.#versions.get(uid);
    // What was written last is seen: nothing older is needed any more.
    const versions = known?.all.has(seen) && known.last !== seen ? known : { all: new Set([seen]), last: seen };
    const { metadata = {} } = merge as { readonly metadata?: object };
    const body = { ...merge, metadata: { ...metadata, resourceVersion: versions.last } };
    try {
      const target = { namespace, name, ...(subresource && { subresource }) };
      const { resourceVersion } = await this.#kube.patch(this.#of, target, { merge: body, uid }, { signal });
      versions.last = resourceVersion;
      versions.all.add(resourceVersion);
      this.#keep(uid, versions);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (isApiError(error, "not-found", "conflict")) {
        this.#versions.delete(uid);
        return false;
      }
      throw error;
    }
  }

  /** It is gone. */
  forget({ metadata }: Of): void {
    this.#versions.delete(metadata.uid);
  }

  /** Only the latest: an object whose versions are forgotten while its own write is not seen yet is looked at once more. */
  #keep(uid: string, versions: OwnVersions): void {
    this.#versions.delete(uid);
    this.#versions.set(uid, versions);
    const [oldest] = this.#versions.keys();
    if (this.#versions.size > maxObjects) this.#versions.delete(oldest!);
  }
}
