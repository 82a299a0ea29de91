/** What a rule's backendRefs lead to. Pure. */
import type { ServicePortView, ServiceView } from "../service-state.ts";
import type { RouteFailure } from "./attachment.ts";
import { RouteFault } from "./fault.ts";
import { gatewayGroup, isGranted } from "./grants.ts";
import { type BackendRef, type Condition, type GrantView, keyOf, type ObjectName, type RouteView } from "./view.ts";

export type Backend = { readonly weight: number } & (
  | { readonly kind: "Service"; readonly service: ServiceView; readonly port: ServicePortView }
  /** An application load balancer of another Gateway. */
  | { readonly kind: "Gateway"; readonly gateway: ObjectName; readonly port: number; readonly arn: string }
  /** A target group that somebody else made. */
  | { readonly kind: "TargetGroupName"; readonly arn: string }
);

export interface BackendSources {
  service(key: string): ServiceView | undefined;
  /** Conditions of another Gateway; undefined where there is none. */
  gatewayConditions(key: string): readonly Condition[] | undefined;
  readonly grants: readonly GrantView[];
  /** The ARN of a target group that somebody else made, by its name. Throws a `HeldFault` where AWS could not be asked. */
  targetGroupArn(name: string): string | undefined;
}

export interface ResolvedBackends {
  readonly backends: readonly Backend[];
  /** What is wrong with those that are left out. */
  readonly failures: readonly RouteFailure[];
}

const maxWeight = 999;

/** Those that cannot be used are left out, and said. Throws a `RouteFault` where the whole rule is wrong. */
export function resolveBackends(route: RouteView, refs: readonly BackendRef[], sources: BackendSources): ResolvedBackends {
  const failures: RouteFailure[] = [];
  const backends = refs.flatMap((ref): Backend[] => {
    const found = resolve(route, ref, sources);
    if ("reason" in found) {
      failures.push(found);
      return [];
    }
    if (ref.weight > maxWeight)
      throw new RouteFault("UnsupportedValue", `Weight [${ref.weight}] must be less than or equal to ${maxWeight}`);
    return [found];
  });
  return { backends, failures };
}

type Resolver = (route: RouteView, ref: BackendRef, sources: BackendSources) => Backend | RouteFailure;

function resolve(route: RouteView, ref: BackendRef, sources: BackendSources): Backend | RouteFailure {
  const resolver = Object.hasOwn(resolvers, ref.kind) ? resolvers[ref.kind] : undefined;
  return resolver?.(route, ref, sources) ?? { reason: "InvalidKind", message: "Unknown backend reference kind" };
}

const portRequired: RouteFailure = { reason: "UnsupportedValue", message: "Port is required" };
const notPermitted: RouteFailure = {
  reason: "RefNotPermitted",
  message: "No explicit ReferenceGrant exists to allow the reference.",
};
const notFound = (message: string): RouteFailure => ({ reason: "BackendNotFound", message });

const resolvers: Readonly<Record<string, Resolver>> = {
  Service(route, { namespace: given, name, port: number, weight }, { service, grants }) {
    const namespace = given || route.namespace;
    if (number === undefined) return portRequired;
    if (!isGranted(route, { group: "", kind: "Service", namespace, name }, grants)) return notPermitted;
    const found = service(keyOf({ namespace, name }));
    if (found === undefined) return notFound(`Service (${namespace}:${name}) not found)`);
    const port = found.ports.find((each) => each.port === number);
    if (port === undefined) return notFound(`Unable to find service port for port ${number}`);
    return { kind: "Service", service: found, port, weight };
  },

  Gateway(route, { namespace: given, name, port, weight }, { gatewayConditions, grants }) {
    const namespace = given || route.namespace;
    if (port === undefined) return portRequired;
    if (!isGranted(route, { group: gatewayGroup, kind: "Gateway", namespace, name }, grants)) return notPermitted;
    const found = gatewayConditions(keyOf({ namespace, name }));
    if (found === undefined) return notFound(`Gateway (${namespace}:${name}) not found)`);
    const programmed = found.find(({ type, status }) => type === "Programmed" && status === "True");
    if (programmed === undefined) return notFound(`Gateway (${namespace}:${name}) is not usable yet, LB ARN is not provisioned)`);
    const arn = programmed.message;
    if (!arn.includes(":loadbalancer/app/"))
      return notFound(`invalid gateway ARN: ${arn}, the resource type must be application load balancer`);
    return { kind: "Gateway", gateway: { namespace, name }, port, arn, weight };
  },

  TargetGroupName(_route, { name, weight }, { targetGroupArn }) {
    const arn = targetGroupArn(name);
    return arn === undefined ? notFound(`searching TargetGroup with name ${name}: not found`) : { kind: "TargetGroupName", arn, weight };
  },
};
