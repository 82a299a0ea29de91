/** The target group of a Service behind an Ingress, and the binding that fills it. Pure. */
import { readRows, type ValuesOf } from "../annotation-rows.ts";
import type { TargetGroup } from "../model.ts";
import { type SeenTargetGroup, sameFamily } from "../target-group-plan.ts";
import type { BindingSpec } from "../targets/binding.ts";
import type { BindingWish } from "../targets/owned-bindings.ts";
import { parseGoBool } from "../values.ts";
import { annotationPrefix, backendTable } from "./annotations.ts";
import type { GroupId } from "./groups.ts";
import { MemberFault, type MemberOptions, readFamily } from "./member.ts";
import { bindingLabels, parts, type TargetGroupIdentity, targetGroupName } from "./names.ts";
import type { PortRef } from "./routing-json.ts";
import type { IngressSettings } from "./settings.ts";
import { allTags, userTags } from "./tags.ts";
import type { ServicePortView, ServiceView } from "./view.ts";

export interface Backend {
  readonly group: TargetGroup;
  readonly binding: BindingWish;
}

export interface BackendContext {
  readonly groupId: GroupId;
  readonly settings: IngressSettings;
  /** Whether the load balancer has IPv6 addresses. */
  readonly isDualStack: boolean;
  /** The security group whose traffic targets let in; absent: they are left alone. */
  readonly source?: string;
  /** Target groups of the group that stand already. */
  readonly standing: readonly Pick<SeenTargetGroup, "name" | "addressType">[];
}

/** Throws a `MemberFault` where no target group can be made for it. */
export function backendOf(options: MemberOptions, service: ServiceView, backendPort: PortRef, context: BackendContext): Backend {
  const { groupId, settings, isDualStack } = context;
  const { ingress, params } = options.member;
  const serviceKey = `${service.namespace}/${service.name}`;
  const port = servicePort(service, backendPort);
  const values = backendValues(options, service);
  const targetType = params?.targetType ?? values["target-type"] ?? settings.defaultTargetType;
  if (targetType === "ip" && !settings.gates.ipTargetType)
    throw new MemberFault("unsupported targetType: ip when EnableIPTargetType is false");
  const protocol = values["backend-protocol"] ?? "HTTP";
  const protocolVersion = values["backend-protocol-version"] ?? "HTTP1";
  const controlPort = readFamily(options, "target-control-port.", `${service.name}.${backendPort}`);
  if (controlPort !== undefined && targetType === "instance") {
    throw new MemberFault("target control port is not supported for instance target target group");
  }
  const addressType = service.ipFamilies.includes("IPv6") ? "ipv6" : "ipv4";
  if (addressType === "ipv6" && !isDualStack) throw new MemberFault("unsupported IPv6 configuration, lb not dual-stack");
  const identity: TargetGroupIdentity = {
    ingress,
    service,
    backendPort,
    port: targetPort(targetType, port),
    targetType,
    protocol,
    protocolVersion,
    ...(controlPort !== undefined && { controlPort }),
  };
  const part = parts.targetGroup(identity);
  const serviceTags = serviceTagsOf(service);
  const usual = targetGroupName(settings.cluster, groupId, identity);
  const isOfOtherFamily = context.standing.some((other) => other.name === usual && !sameFamily(other, { addressType }));
  const name = isOfOtherFamily ? targetGroupName(settings.cluster, groupId, { ...identity, apart: addressType }) : usual;
  const group: TargetGroup = {
    name,
    part,
    by: options.key,
    tags: allTags(userTags(options, settings, { key: serviceKey, tags: serviceTags }), groupId, part, settings),
    targetType,
    protocol,
    protocolVersion,
    port: identity.port,
    addressType,
    fixesAddressType: true,
    ...(controlPort !== undefined && { controlPort }),
    healthCheck: healthCheckOf(values, { targetType, protocol, protocolVersion }, service),
    attributes: values["target-group-attributes"] ?? {},
  };
  const labels = targetType === "instance" ? values["target-node-labels"] : undefined;
  const networking = networkingOf(group, port, context);
  return {
    group,
    binding: {
      namespace: service.namespace,
      name,
      labels: bindingLabels(groupId),
      targetGroup: name,
      spec: {
        targetType,
        targetGroupProtocol: protocol,
        serviceRef: { name: service.name, port: backendPort },
        ipAddressType: addressType,
        vpcID: settings.vpc,
        multiClusterTargetGroup: values["multi-cluster-target-group"] ?? false,
        ...(labels && Object.keys(labels).length > 0 && { nodeSelector: { matchLabels: labels } }),
        ...(networking && { networking }),
      },
    },
  };
}

export function servicePort(service: ServiceView, port: PortRef): ServicePortView {
  const found = service.ports.find((each) => (typeof port === "number" ? each.port === port : each.name === port));
  if (found === undefined) throw new MemberFault(`unable to find port ${port} on service ${service.namespace}/${service.name}`);
  return found;
}

/** A Service's annotation goes before its Ingress's, as a whole. For several clusters either may ask. */
function backendValues({ member: { ingress } }: MemberOptions, service: ServiceView): ValuesOf<typeof backendTable> {
  const keyed = (name: string) => annotationPrefix + name;
  const multi = "multi-cluster-target-group" as const;
  const textOf = (name: string) => service.annotations[keyed(name)] ?? ingress.annotations[keyed(name)];
  const { values, problems } = readRows(backendTable, keyed, textOf, {});
  if (problems.length > 0) throw new MemberFault(problems.map(({ message }) => message).join("; "));
  const either = [service.annotations, ingress.annotations].some((annotations) => parseGoBool(annotations[keyed(multi)] ?? ""));
  return { ...values, [multi]: (values[multi] ?? false) || either };
}

function serviceTagsOf(service: ServiceView): Readonly<Record<string, string>> {
  const key = `${annotationPrefix}tags`;
  const { values, problems } = readRows(
    { tags: backendTable["target-group-attributes"] },
    () => key,
    () => service.annotations[key],
    {},
  );
  if (problems[0]) throw new MemberFault(problems[0].message);
  return values.tags ?? {};
}

/** A named port differs from pod to pod, so a group of pods then stands for all of them under port 1. */
function targetPort(targetType: string, { targetPort: target, nodePort }: ServicePortView): number {
  const port = targetType === "instance" ? nodePort : typeof target === "number" ? target : 1;
  if (port !== 0) return port;
  throw new MemberFault(
    targetType === "instance"
      ? "TargetGroup port is empty. When using Instance targets, your service be must of type 'NodePort' or 'LoadBalancer'"
      : "TargetGroup port is empty. Are you using the correct service type?",
  );
}

function healthCheckOf(
  values: ValuesOf<typeof backendTable>,
  {
    targetType,
    protocol,
    protocolVersion,
  }: { readonly targetType: string; readonly protocol: "HTTP" | "HTTPS"; readonly protocolVersion: string },
  service: ServiceView,
): TargetGroup["healthCheck"] {
  const isGrpc = protocolVersion === "GRPC";
  return {
    protocol: values["healthcheck-protocol"] ?? protocol,
    port: healthCheckPort(values["healthcheck-port"] ?? "traffic-port", targetType, service),
    path: values["healthcheck-path"] ?? (isGrpc ? "/AWS.ALB/healthcheck" : "/"),
    interval: values["healthcheck-interval-seconds"] ?? 15,
    timeout: values["healthcheck-timeout-seconds"] ?? 5,
    healthyThreshold: values["healthy-threshold-count"] ?? 2,
    unhealthyThreshold: values["unhealthy-threshold-count"] ?? 2,
    matcher: { kind: isGrpc ? "grpc" : "http", codes: values["success-codes"] ?? (isGrpc ? "12" : "200") },
    keepsAll: true,
  };
}

function healthCheckPort(given: string, targetType: string, service: ServiceView): string {
  if (given === "traffic-port" || /^\d+$/.test(given)) return given;
  const port = service.ports.find(({ name }) => name === given);
  if (port === undefined) {
    throw new MemberFault(
      `failed to resolve healthCheckPort: unable to find port ${given} on service ${service.namespace}/${service.name}`,
    );
  }
  if (targetType === "instance") return String(port.nodePort);
  if (typeof port.targetPort === "number") return String(port.targetPort);
  throw new MemberFault("cannot use named healthCheckPort for IP TargetType when service's targetPort is a named port");
}

/** A rule per port, from the one group that speaks for the load balancer. */
function networkingOf(group: TargetGroup, port: ServicePortView, { source, settings }: BackendContext): BindingSpec["networking"] {
  if (source === undefined) return undefined;
  const from = [{ securityGroup: { groupID: source } }];
  if (!settings.restrictsRules) return { ingress: [{ from, ports: [{ protocol: "TCP" }] }] };
  const traffic = group.targetType === "instance" ? port.nodePort : port.targetPort;
  const health = group.healthCheck.port === "traffic-port" ? [] : [Number(group.healthCheck.port)];
  const control = group.controlPort === undefined ? [] : [group.controlPort];
  // Also where two of them are one port: a binding that says the same twice is as right as one that says it once.
  const opened: readonly PortRef[] = [traffic, ...health, ...control];
  return { ingress: opened.map((each) => ({ from, ports: [{ protocol: "TCP", port: each }] })) };
}
