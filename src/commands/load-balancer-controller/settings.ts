/** What the options of the process say to its doors. */
import type { ControllerSettings } from "../../loadbalancers/controller-settings.ts";
import type { GatewaySettings } from "../../loadbalancers/gateway/settings.ts";
import type { IngressSettings } from "../../loadbalancers/ingress/settings.ts";
import type { ClassSettings } from "../../loadbalancers/service-class/settings.ts";
import { gateOpen } from "./feature-gates.ts";
import type { Options } from "./flags.ts";

type Gate = Parameters<typeof gateOpen>[1];

const gatesOf = (options: Options) => (gate: Gate) => gateOpen(options["feature-gates"], gate);

function controllerSettings(options: Options, vpc: string): ControllerSettings {
  const open = gatesOf(options);
  return {
    cluster: options["cluster-name"],
    vpc,
    defaultTags: options["default-tags"],
    externalManagedTags: options["external-managed-tags"],
    defaultTargetType: options["default-target-type"] === "ip" ? "ip" : "instance",
    defaultScheme: options["default-load-balancer-scheme"] === "internet-facing" ? "internet-facing" : "internal",
    defaultSslPolicy: options["default-ssl-policy"],
    sharesBackendGroup: options["enable-backend-security-group"],
    managesBackendRules: options["enable-manage-backend-security-group-rules"],
    restrictsRules: !options["disable-restricted-sg-rules"],
    gates: {
      listenerRulesTagging: open("ListenerRulesTagging"),
      weightedTargetGroups: open("WeightedTargetGroups"),
      ipTargetType: open("EnableIPTargetType"),
      healthCheckAdvanced: open("NLBHealthCheckAdvancedConfig"),
      subnetsClusterTagCheck: open("SubnetsClusterTagCheck"),
      subnetDiscoveryByReachability: open("SubnetDiscoveryByReachability"),
      capacityReservation: open("LBCapacityReservation"),
      enhancedDefaults: open("EnhancedDefaultBehavior"),
      defaultTagsLowPriority: open("EnableDefaultTagsLowPriority"),
    },
  };
}

export function ingressSettings(options: Options, vpc: string): IngressSettings {
  const shared = controllerSettings(options, vpc);
  const open = gatesOf(options);
  return {
    ...shared,
    toleratesMissingService: options["tolerate-non-existent-backend-service"],
    toleratesMissingAction: options["tolerate-non-existent-backend-action"],
    allowedAuthorities: options["allowed-certificate-authority-arns"],
    defaultAuthority: options["default-pca-arn"],
    guards: [
      ...(options["enable-wafv2"] ? (["webAcl"] as const) : []),
      ...(options["enable-waf"] ? (["classicWebAcl"] as const) : []),
      ...(options["enable-shield"] ? (["shield"] as const) : []),
    ],
    gates: {
      ...shared.gates,
      singleSubnet: open("ALBSingleSubnet"),
      certificateManagement: open("EnableCertificateManagement"),
      planAnnotation: open("IngressPlanAnnotation"),
    },
  };
}

export function gatewaySettings(options: Options, vpc: string): GatewaySettings {
  const shared = controllerSettings(options, vpc);
  return {
    ...shared,
    allowedAuthorities: options["allowed-certificate-authority-arns"],
    guards: [...(options["enable-wafv2"] ? (["webAcl"] as const) : []), ...(options["enable-shield"] ? (["shield"] as const) : [])],
    gates: { ...shared.gates, singleSubnet: gatesOf(options)("ALBSingleSubnet") },
  };
}

export function classSettings(options: Options, vpc: string): ClassSettings {
  const shared = controllerSettings(options, vpc);
  const open = gatesOf(options);
  return {
    ...shared,
    loadBalancerClass: options["load-balancer-class"],
    stabilizationMs: options["lb-stabilization-monitor-interval"],
    gates: {
      ...shared.gates,
      loadBalancersOnly: open("ServiceTypeLoadBalancerOnly"),
      securityGroups: open("NLBSecurityGroup"),
      tcpUdpListener: open("EnableTCPUDPListener"),
    },
  };
}
