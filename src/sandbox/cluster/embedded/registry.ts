/** Which resources are served: the built-in ones, and those of the definitions that are stored. */
import type { Allocator } from "./kinds/allocator.ts";
import { builtInResources } from "./kinds/catalogue.ts";
import { definitionResource, resourcesDefinedBy } from "./kinds/custom.ts";
import { type Resource, storageKey } from "./resources.ts";
import { objectKey, type Store } from "./store.ts";

export class Registry {
  readonly definitions = definitionResource();
  readonly namespaces: Resource;
  readonly serviceAccounts: Resource;
  readonly #builtIn: readonly Resource[];
  #custom: readonly Resource[] = [];

  /** `onGone` is told which resources (`group/plural`) have ceased to be. */
  constructor(store: Store, allocator: Allocator, onGone: (resources: ReadonlySet<string>) => void) {
    this.#builtIn = [...builtInResources(allocator), this.definitions];
    this.namespaces = this.find("", "v1", "namespaces")!;
    this.serviceAccounts = this.find("", "v1", "serviceaccounts")!;
    const kind = storageKey(this.definitions);
    store.listen(({ kind: changed, before, after }) => {
      if (changed !== kind) return;
      this.#custom = store.list(kind).flatMap(resourcesDefinedBy);
      if (before === undefined || after !== undefined) return;
      // A definition takes its objects along, so that a new one of the same name starts empty.
      const gone = new Set(resourcesDefinedBy(before).map(storageKey));
      for (const key of gone) for (const { metadata } of store.list(key)) store.remove(key, objectKey(metadata.namespace, metadata.name));
      onGone(gone);
    });
  }

  all(): readonly Resource[] {
    return [...this.#builtIn, ...this.#custom];
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.all().find((one) => one.group === group && one.version === version && one.plural === plural);
  }

  /** Versions of each group that is served, the preferred one first. */
  groups(): Map<string, string[]> {
    const groups = new Map<string, string[]>([
      ["authentication.k8s.io", ["v1"]],
      ["authorization.k8s.io", ["v1"]],
    ]);
    for (const { group, version } of this.all()) {
      const versions = groups.get(group) ?? [];
      if (!versions.includes(version)) versions.push(version);
      groups.set(group, versions);
    }
    return groups;
  }
}
