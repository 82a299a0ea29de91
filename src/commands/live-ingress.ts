/** The Ingresses of a cluster as commands look at them: listed once, with the settings that the load balancer controller was started with. */
import { namespaces, secrets } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { KubeObject, Resource, Stored } from "../kube/resource.ts";
import type { Ingress, Service } from "../kube/types.ts";
import { isSharedGroup } from "../loadbalancers/groups/backend-group.ts";
import type { ClassSources } from "../loadbalancers/ingress/classes.ts";
import type { SurveyContext } from "../loadbalancers/ingress/context.ts";
import { allGroups, type GroupPreview, groupFor, previewGroup } from "../loadbalancers/ingress/preview.ts";
import {
  classState,
  type IngressState,
  ingressClasses,
  ingressClassParams,
  ingresses,
  ingressState,
  paramsState,
} from "../loadbalancers/ingress/seen.ts";
import { type IngressView, keyOf } from "../loadbalancers/ingress/view.ts";
import { Inventory, reconcileAges } from "../loadbalancers/inventory.ts";
import { unknownUid } from "../loadbalancers/service/manifest.ts";
import { serviceState } from "../loadbalancers/service-state.ts";
import { matchesSelector } from "../loadbalancers/targets/selector.ts";
import type { Clock } from "../runtime/world.ts";
import { controllerOptions } from "./balancer-options.ts";
import { type Live, NotPossible } from "./live.ts";
import { indexedBy } from "./load-balancer-controller/balancers.ts";
import { ingressSettings } from "./load-balancer-controller/settings.ts";

/** Objects of a manifest that are put in the place of those of their name. */
export interface Overlay {
  readonly ingresses: readonly Ingress[];
  readonly services: readonly Service[];
}

export interface LiveIngresses {
  readonly context: SurveyContext;
  readonly all: readonly IngressState[];
  preview(ingress: IngressView): Promise<GroupPreview>;
  /** Of all groups; and why Ingresses are in none, by their keys. */
  previewAll(): Promise<{ readonly previews: readonly GroupPreview[]; readonly refused: ReadonlyMap<string, string> }>;
}

export async function openIngresses(live: Live, clock: Clock, overlay: Overlay = { ingresses: [], services: [] }): Promise<LiveIngresses> {
  const { kube, ask, cloud, self } = live;
  const list = <T extends KubeObject>(of: Resource<T>) => listed(kube, of, ask.signal);
  const [stored, classes, params, spaces, options] = await Promise.all([
    list(ingresses),
    list(ingressClasses),
    list(ingressClassParams),
    list(namespaces),
    controllerOptions(live),
  ]);
  const all = overlaid(stored, overlay.ingresses, live.namespace).map(ingressState);
  const services = overlaid(live.stored, overlay.services, live.namespace).map(serviceState);
  const settings = ingressSettings(options, self.vpc!);
  const owns = (tags: Readonly<Record<string, string>>) => tags["elbv2.k8s.aws/cluster"] === settings.cluster;
  const cluster = { id: settings.cluster, legacy: false };
  const inventory = new Inventory(cloud, clock, { vpc: self.vpc!, cluster, owns, ...indexedBy(options) });
  const byKey = <T extends { readonly metadata: { readonly namespace: string; readonly name: string } }>(items: readonly T[]) =>
    new Map(items.map((item) => [keyOf(item.metadata), item]));
  const [ingressesByKey, servicesByKey] = [byKey(all), byKey(services)];
  const given = options["backend-security-group"];
  const context: SurveyContext = {
    inventory,
    settings,
    attributesAgeMs: 0,
    provenCertificates: new Map(),
    now: () => clock.now(),
    ingresses: { get: (key) => ingressesByKey.get(key) as never },
    services: { get: (key) => servicesByKey.get(key) as never, list: () => services as never },
    secrets: await readSecrets(live),
    backendGroup: {
      async id() {
        if (!settings.sharesBackendGroup) return undefined;
        if (given !== "") return given;
        const groups = await inventory.groups.listed(reconcileAges.absentMs, ask);
        return groups.find(({ tags }) => isSharedGroup(tags, settings.cluster))?.id ?? "<shared security group>";
      },
    },
    memory: new Map(),
  };
  const sources: ClassSources = {
    ingressClass: options["ingress-class"],
    classes: classes.map((each) => classState(each).view),
    params: (name) => {
      const found = params.find(({ metadata }) => metadata.name === name);
      return found && paramsState(found).view;
    },
    namespaceMatches: (namespace, selector) => {
      const found = spaces.find(({ metadata }) => metadata.name === namespace);
      return found !== undefined && matchesSelector(selector, found.metadata.labels ?? {});
    },
  };
  const views = all.map(({ view }) => view);
  return {
    context,
    all,
    async preview(ingress) {
      const group = groupFor(ingress, views, sources);
      if (typeof group === "string") throw new NotPossible(`Ingress ${keyOf(ingress)} is not served: ${group}`);
      return previewGroup(group, context, ask);
    },
    async previewAll() {
      const { groups, refused } = allGroups(views, sources);
      const previews: GroupPreview[] = [];
      for (const group of groups) previews.push(await previewGroup(group, context, ask));
      return { previews, refused };
    },
  };
}

/** None of a kind that the server does not know. */
export async function listed<T extends KubeObject>(kube: KubeClient, of: Resource<T>, signal: AbortSignal): Promise<readonly Stored<T>[]> {
  try {
    return (await kube.list(of, { signal })).items;
  } catch (error) {
    if (isApiError(error, "not-found")) return [];
    throw error;
  }
}

/** What is written down, as it will be stored, in the place of what is there. */
export function overlaid<T extends KubeObject>(
  stored: readonly Stored<T>[],
  written: readonly T[],
  defaultNamespace: string,
): readonly Stored<T>[] {
  const made = written.map((object) => {
    const namespace = object.metadata?.namespace ?? defaultNamespace;
    const name = object.metadata?.name ?? "";
    const known = stored.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    const { uid = unknownUid, resourceVersion = "", finalizers } = known?.metadata ?? {};
    return {
      ...object,
      metadata: { ...object.metadata, namespace, name, uid, resourceVersion, ...(finalizers && { finalizers }) },
    } as Stored<T>;
  });
  const isReplaced = ({ metadata }: Stored<T>) =>
    made.some((each) => each.metadata.namespace === metadata.namespace && each.metadata.name === metadata.name);
  return [...stored.filter((object) => !isReplaced(object)), ...made];
}

/** Secrets are only looked for: whether they could be read is all that a plan needs of them. */
export async function readSecrets({ kube, ask }: Live): Promise<SurveyContext["secrets"]> {
  const data = new Map<string, Readonly<Record<string, string>>>();
  return {
    async follow(_group, keys) {
      for (const key of keys) {
        const [namespace = "", name = ""] = key.split("/");
        const found = await kube.get(secrets, { namespace, name }, { signal: ask.signal }).catch((error: unknown) => {
          if (isApiError(error, "not-found", "forbidden")) return undefined;
          throw error;
        });
        const decoded = Object.entries(found?.data ?? {}).map(([entry, value]) => [entry, Buffer.from(value, "base64").toString()]);
        if (found) data.set(key, Object.fromEntries(decoded));
      }
    },
    begin() {},
    read(name, { namespace }) {
      const known = data.get(`${namespace}/${name}`);
      return known
        ? { data: known, changed: false }
        : { problem: `secret "${namespace}/${name}" cannot be read from here, or does not exist` };
    },
  };
}
