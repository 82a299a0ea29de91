/** The gates of the reference, with their defaults. */
import type { Kind } from "../../runtime/flags.ts";
import { parseGoBool } from "../../runtime/flags-go.ts";

const gates = {
  ALBGatewayAPI: true,
  ALBSingleSubnet: false,
  ALBTargetControlAgent: false,
  EnableCertificateManagement: false,
  EnableDefaultTagsLowPriority: false,
  EnableIPTargetType: true,
  EnableRGTAPI: false,
  EnableServiceController: true,
  EnableTCPUDPListener: false,
  EndpointsFailOpen: true,
  EnhancedDefaultBehavior: false,
  GatewayListenerSet: true,
  GlobalAcceleratorController: false,
  IngressController: true,
  IngressPlanAnnotation: false,
  LBCapacityReservation: true,
  ListenerRulesTagging: true,
  NLBGatewayAPI: true,
  NLBHealthCheckAdvancedConfig: true,
  NLBSecurityGroup: true,
  ServiceTypeLoadBalancerOnly: false,
  SubnetDiscoveryByReachability: true,
  SubnetsClusterTagCheck: true,
  WeightedTargetGroups: true,
} as const;

export type Gate = keyof typeof gates;
export type GateSettings = Readonly<Partial<Record<Gate, boolean>>>;

export const featureGates: Kind<GateSettings> = {
  type: "mapStringBool",
  parse(text, before) {
    const items = text.split(",").filter((item) => item.trim() !== "");
    return { ...before, ...Object.fromEntries(items.map(parseItem)) };
  },
  print: (value) =>
    Object.entries(value)
      .map((pair) => pair.join("="))
      .toSorted()
      .join(","),
};

export function gateOpen(settings: GateSettings, gate: Gate): boolean {
  return settings[gate] ?? gates[gate];
}

const gatewayGates = { alb: "ALBGatewayAPI", nlb: "NLBGatewayAPI" } as const satisfies Readonly<Record<string, Gate>>;

/** The kinds of Gateway that are served. */
export const openGateways = (settings: GateSettings): readonly (keyof typeof gatewayGates)[] =>
  (["alb", "nlb"] as const).filter((name) => gateOpen(settings, gatewayGates[name]));

function parseItem(item: string): [string, boolean] {
  const [name = "", text, ...more] = item.split("=").map((part) => part.trim());
  const invalid = (cause?: unknown) =>
    new SyntaxError(`failed to parse feature-gates settings due to invalid mapStringBool: ${item.trim()}`, { cause });
  if (text === undefined || more.length > 0) throw invalid();
  if (!Object.hasOwn(gates, name)) throw new SyntaxError(`unknown feature: ${name}`);
  try {
    return [name, parseGoBool(text)];
  } catch (cause) {
    throw invalid(cause);
  }
}
