/**
 * What a load balancer must look like, whichever front door asked for it. Plain data: no ids that AWS gives, only names
 * that we choose, so that a model can be built, printed and compared before anything exists.
 */

import type { Asker } from "../aws/plan.ts";
import type { Action, Forward, ListenerRule, MutualTls } from "./routing.ts";

export type Tags = Readonly<Record<string, string>>;

/** By their keys. Only these keys are managed: all others are as AWS or somebody else has set them. */
export type Attributes = Readonly<Record<string, string>>;

/** One thing let in by a security group, from a block of addresses or from all of a prefix list. */
export type Rule = {
  readonly protocol: "tcp" | "udp" | "icmp" | "icmpv6" | "all";
  /** For ICMP the type and the code. Absent with `all`. */
  readonly fromPort?: number;
  readonly toPort?: number;
  readonly description?: string;
} & RuleSource;

export type RuleSource =
  | { readonly cidr: string; readonly prefixList?: undefined }
  | { readonly cidr?: undefined; readonly prefixList: string };

/** A security group that we make, keep to exactly these rules, and delete. */
export interface ManagedGroup {
  readonly name: string;
  readonly description: string;
  /** When it is made. */
  readonly tags: Tags;
  /** Those of its tags that say whose it is: put back when they are missing. */
  readonly ownership: Tags;
  /** Set where all its tags are kept as they are here, but for those that somebody else keeps. */
  readonly isForeignTag?: (key: string) => boolean;
  readonly rules: readonly Rule[];
}

/** A security group on a load balancer: ours, or one that is lent to us or shared with others, which no plan edits. */
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
  /** AWS's default when absent. */
  readonly timeout?: number;
  /** Codes of a healthy answer (`200-299`, gRPC: `12`); AWS's default when absent. */
  readonly matcher?: { readonly kind: "http" | "grpc"; readonly codes: string };
  /** Whether timeout and matcher are kept as they are here; else they are sent once, when the group is made. */
  readonly keepsAll?: boolean;
}

/** Something that is known by its tags: which part of its owner it is, whatever its name. */
export interface TaggedPart {
  /** Which part it is, in the words of the owner's tags; absent where the owner goes by names alone. */
  readonly part?: string;
  /** Absent: those of the load balancer. */
  readonly tags?: Tags;
  /** It gets no tags, and those that it has are left alone. */
  readonly untagged?: boolean;
  /** Of several who share the load balancer, whoever asks for it, where it is one: what AWS refuses of it is refused to that one. */
  readonly by?: Asker;
}

export interface TargetGroup extends TaggedPart {
  readonly name: string;
  readonly targetType: "instance" | "ip" | "alb";
  /** HTTP and HTTPS only behind application load balancers, or where the load balancer is not ours. */
  readonly protocol: "TCP" | "UDP" | "TLS" | "TCP_UDP" | "QUIC" | "TCP_QUIC" | "HTTP" | "HTTPS";
  /** With HTTP and HTTPS. */
  readonly protocolVersion?: "HTTP1" | "HTTP2" | "GRPC";
  readonly port: number;
  /** Absent: IPv4. */
  readonly addressType?: "ipv4" | "ipv6";
  /** Set where one of another family does not stand for it: a binding cannot follow either. */
  readonly fixesAddressType?: boolean;
  /** Where targets tell how many requests they take. */
  readonly controlPort?: number;
  readonly healthCheck: TargetHealthCheck;
  /** Set where another protocol, interval, timeout or matcher of its health check takes a new group, as AWS had it once. */
  readonly fixesHealthCheck?: boolean;
  readonly attributes: Attributes;
  /** Ids of its targets; with type `alb` the name of a load balancer. Absent: they have another writer (`targets/`). */
  readonly targets?: readonly string[];
}

/** What listeners of both kinds of the second generation have. */
export interface Listener extends TaggedPart {
  readonly port: number;
  /** ARNs; the first is the default one, the others are chosen by the host name that a client asks for. */
  readonly certificates: readonly string[];
  /** Whoever asks for each certificate, by its ARN, where several share the listener. */
  readonly certificatesBy?: Readonly<Record<string, string>>;
  /** Absent: AWS's default. */
  readonly sslPolicy?: string;
  readonly attributes: Attributes;
  /** Why it is there, as a plan says it: `the Service has port 80`. */
  readonly why: string;
}

export interface NetworkListener extends Listener {
  readonly protocol: "TCP" | "UDP" | "TLS" | "TCP_UDP" | "QUIC" | "TCP_QUIC";
  readonly alpnPolicy?: string;
  readonly forward: Forward;
}

export interface ApplicationListener extends Listener {
  readonly protocol: "HTTP" | "HTTPS";
  /** Absent: as it is. */
  readonly mutualTls?: MutualTls;
  /** What answers when no rule does. */
  readonly defaultActions: readonly Action[];
  /** By rising priority. */
  readonly rules: readonly ListenerRule[];
}

export interface SubnetMapping {
  readonly subnet: string;
  readonly allocation?: string;
  readonly privateIpv4Address?: string;
  readonly ipv6Address?: string;
  /** A block of 80 bits, or `auto_assigned`. */
  readonly sourceNatIpv6Prefix?: string;
}

/** What both kinds of the second generation have. */
interface SecondGeneration extends LoadBalancerModel {
  readonly subnets: readonly SubnetMapping[];
  readonly targetGroups: readonly TargetGroup[];
  readonly attributes: Attributes;
  /** Whoever asks for these attributes, where it is one of several. */
  readonly attributesBy?: string;
  /** Capacity units reserved; 0 cancels the reservation. Absent: as it is. */
  readonly capacity?: number;
}

export interface NetworkLoadBalancer extends SecondGeneration {
  readonly kind: "network";
  readonly addressType: "ipv4" | "dualstack";
  readonly listeners: readonly NetworkListener[];
  /** Whether it has prefixes of addresses of its own towards IPv6 targets, which UDP takes. Absent: as it is; a new one has none. */
  readonly sourceNat?: boolean;
  /** Whether its groups' rules count for what comes by PrivateLink. Absent: as it is; of a new one they do. */
  readonly privateLinkRules?: "on" | "off";
}

export interface ApplicationLoadBalancer extends SecondGeneration {
  readonly kind: "application";
  readonly addressType: "ipv4" | "dualstack" | "dualstack-without-public-ipv4";
  readonly listeners: readonly ApplicationListener[];
  /**
   * Somebody who shares it cannot be understood now, and nobody remembers what they asked for: what stands may be theirs, so
   * things are added and rules put in order, and nothing else is changed or taken away.
   */
  readonly keepsUnclaimed?: {
    /** How the parts of theirs begin: such target groups stay. */
    readonly prefixes: readonly string[];
  };
  /** Read when the load balancer is created. */
  readonly customerOwnedIpv4Pool?: string;
  readonly ipv4IpamPool?: string;
  readonly guards?: Guards;
  /** Whether a web ACL that stands in front already is left alone, whosever it is. */
  readonly keepsOtherWebAcl?: true;
}

/** What guards a load balancer. What is absent is left as it is. */
export interface Guards {
  /** The ARN of a web ACL; empty: none. */
  readonly webAcl?: string;
  /** The id of a web ACL of WAF Classic; empty: none. */
  readonly classicWebAcl?: string;
  /** Whether Shield Advanced protects it. */
  readonly shield?: boolean;
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
