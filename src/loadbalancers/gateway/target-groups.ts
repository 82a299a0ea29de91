/** The target group of a backend of a route, and the binding that fills it. Pure. */
import type { TargetGroup } from "../model.ts";
import type { ServicePortView } from "../service-state.ts";
import type { Subnet } from "../subnets.ts";
import { sameFamily } from "../target-group-plan.ts";
import { allPorts, exactPorts, fromAddresses } from "../target-networking.ts";
import type { BindingSpec } from "../targets/binding.ts";
import type { BindingWish } from "../targets/owned-bindings.ts";
import { parseGoBool } from "../values.ts";
import type { Backend } from "./backends.ts";
import type { Draft } from "./draft.ts";
import { RouteFault } from "./fault.ts";
import { protocolOf, type ServiceBackend, saidOf, settingsOf, targetPortOf, unsupported } from "./group-settings.ts";
import { healthCheckOf } from "./health-checks.ts";
import { type Guard, sourceRangesOf } from "./load-balancer.ts";
import { recordOf } from "./merge.ts";
import { bindingLabels, type GroupOwner, parts, type TargetGroupIdentity, targetGroupName } from "./names.ts";
import type { Port } from "./ports.ts";
import { sharedPort } from "./sharing.ts";
import { tagsOf } from "./tags.ts";
import { targetSettings } from "./target-settings.ts";
import { keyOf, type RouteView } from "./view.ts";

export interface BoundGroup {
  readonly group: TargetGroup;
  /** Absent: its targets are load balancers. */
  readonly binding?: BindingWish;
  /** The load balancer that is its target. */
  readonly target?: { readonly arn: string; readonly port: number };
}

/** What all target groups of a load balancer follow from. */
export interface GroupContext {
  readonly isDualStack: boolean;
  readonly internal: boolean;
  readonly source: Guard["source"];
  readonly subnets: readonly Subnet[];
}

/** Throws a `RouteFault` where none can be made. */
export function boundGroup(
  draft: Draft,
  route: RouteView,
  backend: Exclude<Backend, { readonly kind: "TargetGroupName" }>,
  port: Port,
  context: GroupContext,
): BoundGroup {
  return backend.kind === "Service" ? ofService(draft, route, backend, port, context) : ofGateway(draft, route, backend, port);
}

function ofService(draft: Draft, route: RouteView, backend: ServiceBackend, port: Port, context: GroupContext): BoundGroup {
  const { settings, gateway, flavour } = draft;
  const { service, port: servicePort } = backend;
  const { said, usual } = saidOf(draft, route, service);
  const asked = settingsOf(draft, route, backend, port, context, said);
  const { targetType, protocol, protocolVersion, addressType, controlPort, healthCheck, attributes, nodeSelector } = asked;
  const targetPort = targetPortOf(targetType, servicePort);
  const shared =
    draft.sharesTargetGroups && !said.targetGroupName
      ? sharedPort(asked, servicePort, () => settingsOf(draft, route, backend, port, context, usual))
      : undefined;
  const { namespace, name: serviceName } = service;
  const written = targetType === "instance" ? servicePort.nodePort : servicePort.targetPort;
  const owner: GroupOwner = shared === undefined ? route : { kind: "Service", namespace, name: serviceName };
  const part = parts.targetGroup({ gateway, route: owner, backend: service }, shared ?? servicePort.targetPort);
  const identity: TargetGroupIdentity = {
    gateway,
    route: owner,
    backend: service,
    port: shared === undefined ? written : `${part}:${written}`,
    targetType,
    protocol,
    ...(protocolVersion && { protocolVersion }),
    ...(controlPort !== undefined && { controlPort }),
  };
  const name = said.targetGroupName || freeName(draft, identity, addressType, context);
  const group: TargetGroup = {
    name,
    part,
    tags: tagsOf(asked.tags, draft, part),
    targetType,
    protocol,
    ...(protocolVersion && { protocolVersion }),
    port: targetPort,
    addressType,
    fixesAddressType: true,
    ...(controlPort !== undefined && { controlPort }),
    healthCheck,
    ...(!settings.gates.healthCheckAdvanced && flavour.name === "nlb" && { fixesHealthCheck: true }),
    attributes,
  };
  const networking = networkingOf(draft, group, servicePort, context);
  const { labels, annotations } = gateway.infrastructure;
  return {
    group,
    binding: {
      namespace,
      name,
      labels: { ...labels, ...bindingLabels(flavour, gateway) },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      targetGroup: name,
      spec: {
        targetType,
        targetGroupProtocol: protocol,
        serviceRef: { name: serviceName, port: servicePort.port },
        ipAddressType: addressType,
        vpcID: settings.vpc,
        multiClusterTargetGroup: asked.isMultiCluster,
        ...(nodeSelector && { nodeSelector }),
        ...(networking && { networking }),
      },
    },
  };
}

/** An application load balancer behind a network load balancer. */
function ofGateway(draft: Draft, route: RouteView, backend: Backend & { readonly kind: "Gateway" }, port: Port): BoundGroup {
  const { settings, gateway, flavour } = draft;
  if (flavour.name !== "nlb") throw new RouteFault("InvalidKind", "Unknown backend reference kind");
  const said = targetSettings(route, draft.targetConfiguration("Gateway", keyOf(backend.gateway)), undefined);
  const protocol = protocolOf(flavour.name, route, port, said);
  if (said.targetControlPort !== undefined) throw unsupported("target control port is not supported for ALB target target group");
  const identity: TargetGroupIdentity = { gateway, route, backend: backend.gateway, port: backend.port, targetType: "alb", protocol };
  const part = parts.targetGroup(identity, backend.port);
  return {
    group: {
      name: said.targetGroupName || targetGroupName(settings.cluster, identity),
      part,
      tags: tagsOf(said.tags ?? {}, draft, part),
      targetType: "alb",
      protocol,
      port: backend.port,
      healthCheck: healthCheckOf(flavour.name, said, { protocol, targetType: "alb", albPort: backend.port }, undefined),
      attributes: recordOf(said.targetGroupAttributes),
    },
    target: { arn: backend.arn, port: backend.port },
  };
}

/** One whose name another has that stands, and that it cannot stand for, takes another name. */
function freeName(
  { settings, targetGroups, takenNames }: Draft,
  identity: TargetGroupIdentity,
  addressType: "ipv4" | "ipv6",
  { internal }: GroupContext,
): string {
  const usual = targetGroupName(settings.cluster, identity);
  const isOfOtherFamily = targetGroups.some((group) => group.name === usual && !sameFamily(group, { addressType }));
  const apart = [
    ...(isOfOtherFamily ? [addressType] : []),
    ...(takenNames.includes(usual) ? [internal ? "internal" : "internet-facing"] : []),
  ].join("");
  return apart === "" ? usual : targetGroupName(settings.cluster, { ...identity, apart });
}

/** A rule per port, from the one group that speaks for the load balancer; or from addresses where it has no group. */
function networkingOf(
  draft: Draft,
  group: TargetGroup,
  port: ServicePortView,
  { source, internal, subnets, isDualStack }: GroupContext,
): BindingSpec["networking"] {
  if (source.kind === "nobody") return undefined;
  const access = { group, trafficPort: group.targetType === "instance" ? port.nodePort : port.targetPort };
  if (source.kind === "group") {
    const from = [{ securityGroup: { groupID: source.id } }];
    if (!draft.settings.restrictsRules) return { ingress: [{ from, ports: allPorts(access) }] };
    const control = group.controlPort === undefined ? [] : [{ protocol: "TCP", port: group.controlPort } as const];
    return { ingress: [...exactPorts(access), ...control].map((each) => ({ from, ports: [each] })) };
  }
  const preservesClients = parseGoBool(group.attributes["preserve_client_ip.enabled"] ?? "") ?? group.targetType === "instance";
  const { vpcCidrs } = draft;
  return fromAddresses({ ...access, preservesClients, internal, subnets, vpcCidrs, ranges: () => sourceRangesOf(draft, isDualStack) });
}
