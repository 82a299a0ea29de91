/** As much of the descriptors as some services need: a definition of all of CSI takes megabytes, on every node. */
import { csiDescriptor } from "./descriptor.ts";
import { modifyDescriptor } from "./modify-descriptor.ts";
import { registrationDescriptor } from "./registration-descriptor.ts";

interface Namespace {
  readonly nested?: Readonly<Record<string, Namespace>>;
}

/** The services, by their full names, and what their messages are made of. Types of other packages come with them. */
export function descriptorOf(services: readonly string[]): Namespace {
  const all = [csiDescriptor, modifyDescriptor, registrationDescriptor] as readonly Namespace[];
  const descriptors = all.flatMap((root) => {
    const served = services.filter((name) => lookup(root, name) !== undefined);
    return served.length === 0 ? [] : [pruned(root, served)];
  });
  return { nested: Object.assign({}, ...descriptors.map(({ nested }) => nested)) as NonNullable<Namespace["nested"]> };
}

/** One package with these of its services; the packages beside it whole. */
function pruned(root: Namespace, services: readonly string[]): Namespace {
  const path = services[0]!.split(".").slice(0, -1);
  const everything = lookup(root, path.join("."))?.nested ?? {};
  const kept = new Set<string>();
  const keep = (name: string): void => {
    const found = everything[name];
    if (found === undefined || kept.has(name)) return;
    kept.add(name);
    for (const [, type = ""] of JSON.stringify(found).matchAll(/"(?:type|requestType|responseType)":"([^".]+)/g)) keep(type);
  };
  for (const service of services) keep(service.split(".").at(-1)!);
  const rest = { nested: Object.fromEntries(Object.entries(everything).filter(([name]) => kept.has(name))) };
  return withAt(root, path, rest);
}

function lookup(root: Namespace, name: string): Namespace | undefined {
  return name.split(".").reduce<Namespace | undefined>((at, part) => at?.nested?.[part], root);
}

function withAt(root: Namespace, [first, ...rest]: readonly string[], value: Namespace): Namespace {
  if (first === undefined) return value;
  return { ...root, nested: { ...root.nested, [first]: withAt(root.nested?.[first] ?? {}, rest, value) } };
}
