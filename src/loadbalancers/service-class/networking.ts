/** What targets let in, as their binding says it: from a security group, or from addresses where the load balancer has none. Pure. */
import type { TargetGroup } from "../model.ts";
import type { Subnet } from "../subnets.ts";
import type { BindingSpec, NetworkingPort } from "../targets/binding.ts";
import type { Draft } from "./draft.ts";
import { type Guard, sourceRangesOf } from "./security-groups.ts";
import type { ServicePortView, ServiceView } from "./view.ts";

export interface NetworkingWish {
  readonly group: TargetGroup;
  readonly backing: ServiceView;
  readonly port: ServicePortView;
  readonly source: Guard["source"];
  /** Whether targets see the addresses of clients, as far as it is up to us: of some protocols they always do. */
  readonly preservesClients: boolean;
  readonly internal: boolean;
  /** Where the load balancer stands. */
  readonly subnets: readonly Subnet[];
}

type Networking = BindingSpec["networking"];

export function networkingOf(draft: Draft, wish: NetworkingWish): Networking {
  const { source } = wish;
  if (source.kind === "nobody") return undefined;
  if (source.kind === "group") {
    const from = [{ securityGroup: { groupID: source.id } }];
    return { ingress: [{ from, ports: draft.settings.restrictsRules ? exactPorts(wish) : allPorts(wish) }] };
  }
  return (draft.read.get("aws-load-balancer-manage-backend-security-group-rules") ?? true) ? fromAddresses(draft, wish) : undefined;
}

const takesUdp = (protocol: string) => protocol.includes("UDP") || protocol.includes("QUIC");
const takesBoth = (protocol: string) => protocol === "TCP_UDP" || protocol === "TCP_QUIC";

function allPorts({ group: { protocol } }: NetworkingWish): readonly NetworkingPort[] {
  return [{ protocol: "TCP" }, ...(takesUdp(protocol) ? [{ protocol: "UDP" } as const] : [])];
}

/** Targets are checked by TCP, whatever else they take. */
function exactPorts(wish: NetworkingWish): readonly NetworkingPort[] {
  const { protocol } = wish.group;
  const port = trafficPort(wish);
  const health = healthPort(wish);
  const isOther = health !== undefined && health !== port;
  return [
    ...(takesUdp(protocol) ? [{ protocol: "UDP", port } as const] : [{ protocol: "TCP", port } as const]),
    ...(takesUdp(protocol) && (takesBoth(protocol) || !isOther) ? [{ protocol: "TCP", port } as const] : []),
    ...(isOther ? [{ protocol: "TCP", port: health } as const] : []),
  ];
}

const trafficPort = ({ group, port }: NetworkingWish) => (group.targetType === "instance" ? port.nodePort : port.targetPort);

/** Undefined where it is the port of the traffic. */
const healthPort = ({ group: { healthCheck } }: NetworkingWish) =>
  healthCheck.port === "traffic-port" ? undefined : Number(healthCheck.port);

const everywhere = { ipv4: "0.0.0.0/0", ipv6: "::/0" } as const;

function fromAddresses(draft: Draft, wish: NetworkingWish): Networking {
  const { group, backing, internal, preservesClients, subnets } = wish;
  const family = group.addressType ?? "ipv4";
  const ofFamily = (cidrs: readonly string[]) => cidrs.filter((cidr) => cidr.includes(":") === (family === "ipv6"));
  const ofSubnets = ofFamily(subnets.flatMap(({ cidr, ipv6Cidrs }) => [cidr, ...ipv6Cidrs]));
  const seesClients = takesUdp(group.protocol) || preservesClients;
  const ranges = seesClients ? sourceRangesOf(draft, backing) : undefined;
  const everybody = internal ? ofFamily(draft.vpcCidrs) : [everywhere[family]];
  const sources = seesClients ? (ranges ?? everybody) : ofSubnets;
  const port = trafficPort(wish);
  const traffic: readonly NetworkingPort[] = takesBoth(group.protocol)
    ? [
        { protocol: "TCP", port },
        { protocol: "UDP", port },
      ]
    : [{ protocol: takesUdp(group.protocol) ? "UDP" : "TCP", port }];
  const health = healthPort(wish) ?? port;
  const isOpen = !seesClients || ranges === undefined || ranges.some((cidr) => cidr === everywhere.ipv4 || cidr === everywhere.ipv6);
  // What checks targets comes from the subnets: it needs a rule of its own unless the one for traffic lets it in.
  const isCovered = traffic.some(({ protocol }) => protocol === "TCP") && health === port && isOpen;
  const peers = (cidrs: readonly string[]) => cidrs.map((cidr) => ({ ipBlock: { cidr } }));
  return {
    ingress: [
      { from: peers(sources), ports: traffic },
      ...(isCovered ? [] : [{ from: peers(ofSubnets), ports: [{ protocol: "TCP", port: health } as const] }]),
    ],
  };
}
