/** Which Gateways a change of an object concerns. Pure, over what is followed. */
import type { Frozen } from "../../kube/resource.ts";
import type { TargetGroupConfiguration } from "./config.ts";
import { configurationKind, processedAnnotation } from "./configuration.ts";
import { extensionsOf } from "./filters.ts";
import type { SeenGateway, SeenRoute, SeenSet } from "./report.ts";
import type { Objects } from "./seen.ts";
import { sharingAnnotation } from "./sharing.ts";
import type { ClassState, ConfigurationState, State } from "./states.ts";
import { type GrantView, keyOf, type ObjectName, type ParentRef, type RouteView } from "./view.ts";

type Keys = readonly string[];

const distinct = (keys: Keys) => [...new Set(keys)];

/** Through its parents, and those that its status still names: of ListenerSets the Gateways that they name. */
export function gatewaysOfRoute({ view, parents }: SeenRoute, { sets }: Objects): Keys {
  const refs: readonly ParentRef[] = [...view.parentRefs, ...parents.map(({ parentRef }) => parentRef)];
  return distinct(
    refs.flatMap(({ kind, namespace, name }) => {
      const key = keyOf({ namespace: namespace || view.namespace, name });
      if (kind === "Gateway") return [key];
      if (kind !== "ListenerSet" || sets === undefined) return [];
      const set = sets.get(key);
      // Nobody serves one that is gone, and the route may still be told of it: that is put right under whatever key there is.
      return set ? gatewaysOfSet(set) : [key];
    }),
  );
}

export const gatewaysOfSet = ({ view: { parent } }: SeenSet): Keys => (parent.kind === "Gateway" ? [keyOf(parent)] : []);

const ofRoutes = (objects: Objects, concerns: (route: RouteView) => boolean): Keys =>
  distinct(objects.routes.flatMap((kind) => kind.list().flatMap((route) => (concerns(route.view) ? gatewaysOfRoute(route, objects) : []))));

const leadsTo =
  (kind: string, { namespace, name }: ObjectName) =>
  (route: RouteView) =>
    route.rules.some(({ backends }) =>
      backends.some((each) => each.kind === kind && each.name === name && (each.namespace || route.namespace) === namespace),
    );

export const gatewaysOfService = (service: ObjectName, objects: Objects) => ofRoutes(objects, leadsTo("Service", service));

/** Those that lead to another Gateway's load balancer. */
export const gatewaysBefore = (gateway: ObjectName, objects: Objects) => ofRoutes(objects, leadsTo("Gateway", gateway));

export const gatewaysOfGrant = ({ view: { from } }: Frozen<State<GrantView>>, objects: Objects) =>
  ofRoutes(objects, ({ kind, namespace }) => from.some((each) => each.kind === kind && each.namespace === namespace));

export const gatewaysOfClass = (name: string, { gateways }: Objects): Keys =>
  gateways.list().flatMap(({ view }) => (view.className === name ? [keyOf(view)] : []));

/** Those that name it themselves, and those of classes that do. */
export function gatewaysOfConfiguration({ namespace, name }: ObjectName, objects: Objects): Keys {
  const { gateways, classes } = objects;
  const own = gateways
    .list()
    .filter(
      ({ view }) => view.namespace === namespace && view.parametersRef?.kind === configurationKind && view.parametersRef.name === name,
    );
  const ofClasses = classes
    .list()
    .filter(({ view: { parametersRef: ref } }) => ref?.kind === configurationKind && ref.name === name && ref.namespace === namespace);
  return distinct([...own.map(({ view }) => keyOf(view)), ...ofClasses.flatMap(({ view }) => gatewaysOfClass(view.name, objects))]);
}

export function gatewaysOfTargets(
  { metadata, view: { spec } }: Frozen<ConfigurationState<TargetGroupConfiguration>>,
  objects: Objects,
): Keys {
  const { namespace } = metadata;
  if (spec.targetReference) {
    const { kind = "Service", name } = spec.targetReference;
    return kind === "Gateway" ? gatewaysBefore({ namespace, name }, objects) : gatewaysOfService({ namespace, name }, objects);
  }
  const users = objects.loadBalancers
    .list()
    .filter(({ metadata: of, view }) => of.namespace === namespace && view.spec.defaultTargetGroupConfiguration?.name === metadata.name);
  return distinct(users.flatMap(({ metadata: of }) => gatewaysOfConfiguration(of, objects)));
}

export const gatewaysOfRule = ({ namespace, name }: ObjectName, objects: Objects) =>
  ofRoutes(objects, (route) => route.namespace === namespace && route.rules.some((rule) => extensionsOf(rule).includes(name)));

/** Those whose listeners, or which themselves, choose namespaces by labels. */
export function choosingGateways({ gateways, sets }: Objects): Keys {
  const chooses = ({ from }: { readonly from: string }) => from === "Selector";
  const own = gateways
    .list()
    .filter(({ view }) => chooses(view.allowedListeners) || view.listeners.some(({ namespaces }) => chooses(namespaces)));
  const ofSets = (sets?.list() ?? []).filter(({ view }) => view.listeners.some(({ namespaces }) => chooses(namespaces)));
  return distinct([...own.map(({ view }) => keyOf(view)), ...ofSets.flatMap(gatewaysOfSet)]);
}

/** Those that use Secrets of a namespace. */
export const gatewaysWithSecrets = (namespace: string, objects: Objects) =>
  ofRoutes(objects, (route) => route.namespace === namespace && route.rules.some((rule) => extensionsOf(rule).length > 0));

/** Whether two states of a Gateway ask for the same. Its finalizers are ours, and its status too. */
export function sameWish(
  { view: { finalizers: _a, ...before } }: SeenGateway,
  { view: { finalizers: _b, ...after } }: SeenGateway,
): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

/** Whether its Gateways need not be looked at. */
export function sameClass(before: Frozen<ClassState> | undefined, after: Frozen<ClassState> | undefined): boolean {
  const of = (state: Frozen<ClassState> | undefined) =>
    state && [
      state.view.controllerName,
      state.view.parametersRef,
      state.view.annotations[processedAnnotation],
      state.view.annotations[sharingAnnotation],
      state.view.conditions.map(({ type, status }) => [type, status]),
    ];
  return JSON.stringify(of(before)) === JSON.stringify(of(after));
}

/** Whether those that lead traffic to it need not be looked at. */
export function sameBalancer(before: SeenGateway | undefined, after: SeenGateway | undefined): boolean {
  const of = (state: SeenGateway | undefined) =>
    state && [state.view.isDeleted, state.status.conditions.find(({ type }) => type === "Programmed")?.message];
  return JSON.stringify(of(before)) === JSON.stringify(of(after));
}
