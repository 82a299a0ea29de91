/**
 * What a load balancer must look like, whichever front door asked for it. Plain data: no ids that AWS gives, only names
 * that we choose, so that a model can be built, printed and compared before anything exists.
 */

export type Tags = Readonly<Record<string, string>>;

/** One thing let in by a security group. */
export interface Rule {
  readonly protocol: "tcp" | "udp" | "icmp" | "icmpv6" | "all";
  /** For ICMP the type and the code. Absent with `all`. */
  readonly fromPort?: number;
  readonly toPort?: number;
  readonly cidr: string;
  readonly description?: string;
}

/** A security group that we make, keep to exactly these rules, and delete. */
export interface ManagedGroup {
  readonly name: string;
  readonly description: string;
  /** When it is made. */
  readonly tags: Tags;
  /** Those of its tags that say whose it is: put back when they are missing. */
  readonly ownership: Tags;
  readonly rules: readonly Rule[];
}

/** A security group on a load balancer: ours, or one that is lent to us and never edited. */
export type GroupOnLoadBalancer =
  | { readonly kind: "managed"; readonly group: ManagedGroup }
  | { readonly kind: "given"; readonly id: string };

/** The security groups of a load balancer. To some kinds AWS cannot add the first one later: then they stay as they are. */
export type SecurityGroups = { readonly kind: "as-it-is" } | { readonly kind: "wanted"; readonly groups: readonly GroupOnLoadBalancer[] };

/** What is said of every load balancer, whatever its kind. */
export interface LoadBalancerModel {
  /** The name of its kind. */
  readonly kind: string;
  readonly name: string;
  /** Who asks for it, as the reasons of a plan name them: `Service`. */
  readonly askedBy: string;
  readonly internal: boolean;
  readonly securityGroups: SecurityGroups;
  readonly tags: Tags;
}

/** The groups a model asks for; none where they stay as they are. */
export function wantedGroups({ securityGroups }: Pick<LoadBalancerModel, "securityGroups">): readonly GroupOnLoadBalancer[] {
  return securityGroups.kind === "wanted" ? securityGroups.groups : [];
}

/** Those of them that we make and keep. */
export function managedGroups(model: Pick<LoadBalancerModel, "securityGroups">): readonly ManagedGroup[] {
  return wantedGroups(model).flatMap((entry) => (entry.kind === "managed" ? [entry.group] : []));
}

/** What is wrong, or odd, about what was asked for, as its author is told it. */
export interface Problem {
  readonly annotation?: string;
  readonly message: string;
}

export interface ClassicListener {
  readonly port: number;
  readonly protocol: "tcp" | "ssl" | "http" | "https";
  readonly instancePort: number;
  readonly instanceProtocol: "tcp" | "ssl" | "http" | "https";
  readonly certificate?: string;
}

export interface ClassicHealthCheck {
  /** `HTTP:31000/healthz` */
  readonly target: string;
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
  readonly interval: number;
  readonly timeout: number;
}

/** The attributes we manage. An absent value is whatever AWS has. */
export interface ClassicAttributes {
  readonly accessLog: { readonly enabled: boolean; readonly emitInterval?: number; readonly bucket?: string; readonly prefix?: string };
  readonly connectionDraining: { readonly enabled: boolean; readonly timeout?: number };
  readonly idleTimeout: number;
  readonly crossZone: boolean;
}

export interface ClassicLoadBalancer extends LoadBalancerModel {
  readonly kind: "classic";
  readonly subnets: readonly string[];
  readonly listeners: readonly ClassicListener[];
  readonly proxyProtocol: boolean;
  readonly sslPolicy?: string;
  readonly healthCheck: ClassicHealthCheck;
  readonly attributes: ClassicAttributes;
  readonly instances: readonly string[];
}

export interface TargetHealthCheck {
  readonly protocol: "TCP" | "HTTP" | "HTTPS";
  /** `traffic-port` or a number as text. */
  readonly port: string;
  readonly path?: string;
  readonly interval: number;
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
  /** Sent when the group is made; AWS's default when absent. */
  readonly timeout?: number;
}

export interface TargetGroup {
  readonly name: string;
  /** HTTP and HTTPS only where the load balancer is not ours. */
  readonly protocol: "TCP" | "UDP" | "TLS" | "TCP_UDP" | "HTTP" | "HTTPS";
  readonly port: number;
  readonly healthCheck: TargetHealthCheck;
  /** Only these keys are managed. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Instance ids. */
  readonly targets: readonly string[];
}

export interface NetworkListener {
  readonly port: number;
  readonly protocol: "TCP" | "UDP" | "TLS" | "TCP_UDP";
  readonly certificate?: string;
  /** Absent: AWS's default. */
  readonly sslPolicy?: string;
  /** Name of the target group traffic goes to. */
  readonly forwardTo: string;
}

export interface SubnetMapping {
  readonly subnet: string;
  readonly allocation?: string;
  readonly privateIpv4Address?: string;
}

export interface NetworkLoadBalancer extends LoadBalancerModel {
  readonly kind: "network";
  readonly addressType: "ipv4" | "dualstack";
  readonly subnets: readonly SubnetMapping[];
  readonly listeners: readonly NetworkListener[];
  readonly targetGroups: readonly TargetGroup[];
  /** Only these keys are managed. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** What the nodes must let in for one load balancer. Desired by each, written by one: the writer of each node group. */
export type NodeAccess =
  /** Everything that comes from the load balancer's own group. */
  | { readonly kind: "from-group"; readonly loadBalancer: string }
  /** Clients are seen with their own addresses; health checks come from the load balancer's subnets. */
  | {
      readonly kind: "from-clients";
      readonly loadBalancer: string;
      readonly ports: readonly { readonly protocol: "tcp" | "udp"; readonly port: number }[];
      readonly cidrs: readonly string[];
      readonly healthPorts: readonly number[];
    };
