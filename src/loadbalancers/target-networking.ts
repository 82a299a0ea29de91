/** What targets let in, as their binding says it: from a security group, or from addresses where the load balancer has none. Pure. */
import type { TargetGroup } from "./model.ts";
import type { Subnet } from "./subnets.ts";
import type { BindingSpec, NetworkingPort } from "./targets/binding.ts";

export interface TargetAccess {
  readonly group: Pick<TargetGroup, "protocol" | "addressType" | "healthCheck">;
  /** Where targets take traffic: a number, or the name of a container's port. */
  readonly trafficPort: number | string;
}

const takesUdp = (protocol: string) => protocol.includes("UDP") || protocol.includes("QUIC");
const takesBoth = (protocol: string) => protocol === "TCP_UDP" || protocol === "TCP_QUIC";

/** All ports, by the protocols that a group takes. Targets are checked by TCP, whatever else they take. */
export function allPorts({ group: { protocol } }: Pick<TargetAccess, "group">): readonly NetworkingPort[] {
  return [{ protocol: "TCP" }, ...(takesUdp(protocol) ? [{ protocol: "UDP" } as const] : [])];
}

/** The ports of traffic and of health checks. */
export function exactPorts({ group, trafficPort: port }: TargetAccess): readonly NetworkingPort[] {
  const { protocol } = group;
  const health = healthPort(group);
  const isOther = health !== undefined && health !== port;
  return [
    ...(takesUdp(protocol) ? [{ protocol: "UDP", port } as const] : [{ protocol: "TCP", port } as const]),
    ...(takesUdp(protocol) && (takesBoth(protocol) || !isOther) ? [{ protocol: "TCP", port } as const] : []),
    ...(isOther ? [{ protocol: "TCP", port: health } as const] : []),
  ];
}

/** Undefined where it is the port of the traffic. */
const healthPort = ({ healthCheck }: TargetAccess["group"]) => (healthCheck.port === "traffic-port" ? undefined : Number(healthCheck.port));

const everywhere = { ipv4: "0.0.0.0/0", ipv6: "::/0" } as const;

export interface AddressAccess extends TargetAccess {
  /** Whether targets see the addresses of clients, as far as it is up to us: of some protocols they always do. */
  readonly preservesClients: boolean;
  /** Who may reach the load balancer; undefined where nobody says. Asked only where targets see clients. */
  ranges(): readonly string[] | undefined;
  readonly internal: boolean;
  /** Where the load balancer stands. */
  readonly subnets: readonly Subnet[];
  /** Blocks of both families. */
  readonly vpcCidrs: readonly string[];
}

export function fromAddresses(access: AddressAccess): BindingSpec["networking"] {
  const { group, trafficPort: port, internal, preservesClients, subnets, vpcCidrs } = access;
  const family = group.addressType ?? "ipv4";
  const ofFamily = (cidrs: readonly string[]) => cidrs.filter((cidr) => cidr.includes(":") === (family === "ipv6"));
  const ofSubnets = ofFamily(subnets.flatMap(({ cidr, ipv6Cidrs }) => [cidr, ...ipv6Cidrs]));
  const seesClients = takesUdp(group.protocol) || preservesClients;
  const ranges = seesClients ? access.ranges() : undefined;
  const everybody = internal ? ofFamily(vpcCidrs) : [everywhere[family]];
  const sources = seesClients ? (ranges ?? everybody) : ofSubnets;
  const traffic: readonly NetworkingPort[] = takesBoth(group.protocol)
    ? [
        { protocol: "TCP", port },
        { protocol: "UDP", port },
      ]
    : [{ protocol: takesUdp(group.protocol) ? "UDP" : "TCP", port }];
  const health = healthPort(group) ?? port;
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
