/** Which resources are served: the built-in ones, and those of the definitions that are stored. */
import type { Allocator } from "./kinds/allocator.ts";
import { builtInResources } from "./kinds/catalogue.ts";
import { definitionResource, resourcesDefinedBy } from "./kinds/custom.ts";
import { type Resource, storageKey } from "./resources.ts";
import type { Store } from "./store.ts";

export class Registry {
  readonly definitions = definitionResource();
  readonly namespaces: Resource;
  readonly serviceAccounts: Resource;
  readonly #builtIn: readonly Resource[];
  #custom: readonly Resource[] = [];

  constructor(store: Store, allocator: Allocator) {
    this.#builtIn = [...builtInResources(allocator), this.definitions];
    this.namespaces = this.find("", "v1", "namespaces")!;
    this.serviceAccounts = this.find("", "v1", "serviceaccounts")!;
    const kind = storageKey(this.definitions);
    store.listen((change) => {
      if (change.kind === kind) this.#custom = store.list(kind).flatMap(resourcesDefinedBy);
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
