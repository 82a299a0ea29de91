/** What a Gateway asks for, gathered from the objects that say it. Pure. */
import type { Frozen } from "../../kube/resource.ts";
import { recordedAddOns } from "./add-ons.ts";
import { attachRoutes, isNamed } from "./attachment.ts";
import type { ListenerRuleView, TargetGroupConfiguration } from "./config.ts";
import { type ConfigurationSources, configurationOf, type GatewayConfiguration } from "./configuration.ts";
import type { GatewaySources, GatewayWish } from "./draft.ts";
import { extensionsOf } from "./filters.ts";
import type { Flavour } from "./flavours.ts";
import { type JoiningSets, joiningSets } from "./listener-sets.ts";
import { judgeListeners, type ListenerParent } from "./listener-validation.ts";
import type { SeenGateway, SeenRoute } from "./report.ts";
import { oidcSecret } from "./rule-actions.ts";
import type { Objects } from "./seen.ts";
import type { ClassState } from "./states.ts";
import { configurationOf as configurationOfBackend } from "./target-settings.ts";
import { keyOf, type ParentRef, type RouteView } from "./view.ts";

export interface Loaded {
  readonly wish: GatewayWish;
  readonly sets: JoiningSets;
  /** The Gateway and the ListenerSets that name it, whether it takes them or not. */
  readonly parents: readonly ListenerParent[];
}

export function loadGateway({ view }: SeenGateway, configuration: GatewayConfiguration, flavour: Flavour, objects: Objects): Loaded {
  const labelsOf = (namespace: string) => objects.namespaces.get(namespace)?.labels;
  const sets = joiningSets(view, objects.sets?.list().map((set) => set.view) ?? [], labelsOf);
  const asParent = (object: JoiningSets["accepted"][number]) => ({ kind: "ListenerSet", object }) as const;
  const own: ListenerParent = { kind: "Gateway", object: view };
  const taken = [own, ...sets.accepted.map(asParent)];
  const listeners = judgeListeners(taken, flavour);
  const rejected = sets.rejected.map(asParent);
  const parents = [...taken, ...rejected];
  const routes = routesOf(objects).filter((route) => names(route, parents));
  return {
    wish: {
      gateway: view,
      flavour,
      ...configuration,
      listeners,
      attachment: attachRoutes(routes, taken, listeners, labelsOf, rejected),
      addOns: recordedAddOns(view, flavour),
    },
    sets,
    parents,
  };
}

const routesOf = ({ routes }: Pick<Objects, "routes">): readonly RouteView[] =>
  routes.flatMap((kind) => kind.list().map(({ view }) => view));

const names = (route: RouteView, parents: readonly ListenerParent[]) =>
  route.parentRefs.some((ref) => parents.some((parent) => isNamed(parent, ref, route.namespace)));

/** Routes that name one of these, or whose status says so still. */
export function concernedRoutes(
  parents: readonly ListenerParent[],
  controllerName: string,
  { routes, sets }: Pick<Objects, "routes" | "sets">,
): readonly SeenRoute[] {
  const isTold = ({ view, parents: told }: SeenRoute) =>
    told.some(
      (entry) => entry.controllerName === controllerName && parents.some((parent) => isNamed(parent, entry.parentRef, view.namespace)),
    );
  const isConcerned = (route: SeenRoute) =>
    names(route.view, parents) || isTold(route) || toldGoneSets(route, controllerName, { sets }).length > 0;
  return routes.flatMap((kind) => kind.list().filter(isConcerned));
}

/** Keys of ListenerSets that the status of a route tells of, and that are gone. */
function toldGoneSets({ view, parents }: SeenRoute, controllerName: string, { sets }: Pick<Objects, "sets">): readonly string[] {
  const told = parents.filter((entry) => entry.controllerName === controllerName && isSet(entry.parentRef));
  return told.map(({ parentRef }) => keyOfRef(parentRef, view)).filter((key) => sets && sets.get(key) === undefined);
}

/** Of these, what the route still names. */
export function goneSets(route: SeenRoute, controllerName: string, objects: Pick<Objects, "sets">): RouteView["parentRefs"] {
  const gone = toldGoneSets(route, controllerName, objects);
  return route.view.parentRefs.filter((ref) => isSet(ref) && gone.includes(keyOfRef(ref, route.view)));
}

const isSet = ({ kind }: ParentRef) => kind === "ListenerSet";
const keyOfRef = ({ namespace, name }: ParentRef, home: RouteView) => keyOf({ namespace: namespace || home.namespace, name });

export function configurationSources({
  loadBalancers,
  targetGroups,
}: Pick<Objects, "loadBalancers" | "targetGroups">): ConfigurationSources {
  const versioned = <Spec>(
    found: { readonly view: { readonly spec: Spec }; readonly metadata: { readonly resourceVersion: string } } | undefined,
  ) => found && { spec: found.view.spec, resourceVersion: found.metadata.resourceVersion };
  return {
    loadBalancer: (key) => versioned(loadBalancers.get(key)),
    targetGroup: (key) => versioned(targetGroups.get(key)),
  };
}

/** Throws a `GatewayFault`. */
export const configure = ({ view }: SeenGateway, of: Frozen<ClassState>, objects: Objects): GatewayConfiguration =>
  configurationOf(view, of.view, configurationSources(objects));

type FromObjects = Pick<GatewaySources, "targetConfiguration" | "ruleConfiguration" | "service" | "gatewayConditions" | "grants">;

/** What the model of a Gateway is asked of the cluster. */
export function objectSources(objects: Objects): FromObjects {
  return {
    targetConfiguration: (kind, key) => targetConfiguration(kind, key, objects),
    ruleConfiguration(key) {
      const found = objects.rules.get(key);
      if (found === undefined) return undefined;
      const { metadata, view, accepted, message } = found;
      return {
        namespace: metadata.namespace,
        name: metadata.name,
        uid: metadata.uid,
        settings: view.spec,
        ...(accepted !== undefined && { accepted }),
        ...(message !== undefined && { message }),
      };
    },
    service: (key) => objects.services.get(key)?.view,
    gatewayConditions(key) {
      const found = objects.gateways.get(key);
      // What is about to go is no backend any more: AWS keeps it for as long as it is somebody's target.
      return found && !found.view.isDeleted ? found.status.conditions : undefined;
    },
    grants: objects.grants.list().map(({ view }) => view),
  };
}

function targetConfiguration(kind: "Service" | "Gateway", key: string, { targetGroups }: Objects): TargetGroupConfiguration | undefined {
  const [namespace = "", name = ""] = key.split("/");
  const inNamespace = targetGroups.list().filter(({ metadata }) => metadata.namespace === namespace);
  return configurationOfBackend(
    { kind, name },
    inNamespace.map(({ view }) => view.spec),
  );
}

/** A configuration with a log-in that a route of a Gateway refers to, and the Secret that it uses. */
export interface LogInOfRule {
  readonly rule: ListenerRuleView;
  readonly secret: string;
}

export function logInsOf(
  { attachment }: GatewayWish,
  { ruleConfiguration }: Pick<FromObjects, "ruleConfiguration">,
): readonly LogInOfRule[] {
  const routes = new Set([...attachment.byPort.values()].flatMap((some) => some.map(({ route }) => route)));
  const keys = new Set(
    [...routes].flatMap(({ namespace, rules }) => rules.flatMap(extensionsOf).map((name) => keyOf({ namespace, name }))),
  );
  return [...keys].flatMap((key) => {
    const rule = ruleConfiguration(key);
    const secret = rule && oidcSecret(rule);
    return rule && secret !== undefined ? [{ rule, secret }] : [];
  });
}
