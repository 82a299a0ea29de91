/** What the classic service keeps: load balancers with everything that belongs to them. */
import type { HealthCheck as HealthCheckInput } from "@aws-sdk/client-elastic-load-balancing";
import type { Account } from "../account.ts";
import { HealthChecks, type Verdict } from "../balancing/checks.ts";
import type { Tags } from "../balancing/tags.ts";
import { ServiceError } from "../errors.ts";
import type { Table } from "../store.ts";

/** What a listener or an instance speaks. */
export type Protocol = "HTTP" | "HTTPS" | "TCP" | "SSL";

/** A port of a load balancer, and the port of instances behind it. */
export interface Listener {
  readonly protocol: Protocol;
  readonly port: number;
  readonly instanceProtocol: Protocol;
  readonly instancePort: number;
  readonly certificate: string | undefined;
  readonly policyNames: readonly string[];
}

/** A named set of settings for listeners or instance ports. */
export interface Policy {
  readonly name: string;
  readonly type: string;
  readonly attributes: readonly { readonly name: string; readonly value: string }[];
}

/** The settings of a load balancer as a whole. */
export interface Attributes {
  readonly crossZone: boolean;
  readonly accessLog: {
    readonly enabled: boolean;
    readonly bucket: string | undefined;
    readonly prefix: string | undefined;
    readonly emitInterval: number | undefined;
  };
  readonly draining: { readonly enabled: boolean; readonly timeout: number };
  readonly idleTimeout: number;
  readonly desyncMode: string;
}

/** An instance behind a load balancer, and what checks said of it. */
export interface RegisteredInstance {
  readonly id: string;
  readonly verdict: Verdict;
}

/** A classic load balancer with all that belongs to it. */
export interface ClassicLoadBalancer {
  readonly name: string;
  readonly dnsName: string;
  readonly scheme: "internet-facing" | "internal";
  readonly vpcId: string;
  readonly subnetIds: readonly string[];
  /** By subnet. */
  readonly interfaceIds: Readonly<Record<string, string>>;
  readonly groupIds: readonly string[];
  readonly listeners: readonly Listener[];
  readonly policies: readonly Policy[];
  /** Names of policies by instance port. */
  readonly backendPolicies: Readonly<Record<string, readonly string[]>>;
  readonly healthCheck: Required<HealthCheckInput>;
  readonly instances: readonly RegisteredInstance[];
  readonly attributes: Attributes;
  readonly created: number;
  readonly tags: Tags;
}

/** The service's table, and its health checks. */
export interface Elb {
  readonly account: Account;
  readonly loadBalancers: Table<ClassicLoadBalancer>;
  readonly checks: HealthChecks;
}

/** A classic service with no load balancers. */
export function createElb(account: Account): Elb {
  return { account, loadBalancers: account.store.table("elb/load-balancers"), checks: new HealthChecks(account) };
}

/** The load balancer of that name. */
export function loadBalancerNamed(elb: Elb, name: string | undefined): ClassicLoadBalancer {
  const found = elb.loadBalancers.get(name ?? "");
  if (found === undefined) throw new ServiceError("LoadBalancerNotFound", `There is no ACTIVE Load Balancer named '${name ?? ""}'`);
  return found;
}
