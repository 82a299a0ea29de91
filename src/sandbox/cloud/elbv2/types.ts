/** What sets the types of load balancers apart. Another type is another entry. */
import type { ActionTypeEnum, IpAddressType, ProtocolEnum } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Account } from "../account.ts";
import type { Quotas } from "../controls/settings.ts";
import { ServiceError } from "../errors.ts";
import { APPLICATION_ATTRIBUTES } from "./application-attributes.ts";
import { type AttributeTable, NETWORK_ATTRIBUTES } from "./attribute-tables.ts";

/** The types that the cloud models. */
export type LoadBalancerType = "network" | "application";

/** What holds for one type. */
export interface TypeRules {
  /** In its ARN, and in the description of its interfaces. */
  readonly path: string;
  readonly interfaceType: string;
  readonly quota: keyof Quotas;
  readonly zone: "regional" | "network";
  /** Whom AWS names as the owner of what stands behind its interfaces. */
  readonly ownerId: string;
  readonly dnsName: (account: Account, made: Naming) => string;
  readonly ipAddressTypes: readonly IpAddressType[];
  /** How many subnets it needs where they are in Availability Zones. */
  readonly minSubnets: number;
  /** Whether one that names no security group gets the default group of the VPC. */
  readonly alwaysGuarded: boolean;
  readonly actions: readonly ActionTypeEnum[];
  readonly attributes: AttributeTable;
  /** Protocols of its listeners, and for each the protocols of target groups it may forward to. */
  readonly protocols: Readonly<Partial<Record<ProtocolEnum, readonly ProtocolEnum[]>>>;
}

interface Naming {
  readonly name: string;
  readonly id: string;
  readonly scheme: string | undefined;
}

/** The rules of every type. */
export const TYPES: Readonly<Record<LoadBalancerType, TypeRules>> = {
  network: {
    path: "net",
    interfaceType: "network_load_balancer",
    quota: "networkLoadBalancers",
    zone: "network",
    ownerId: "amazon-aws",
    dnsName: (account, { name, id }) => `${name}-${id}.elb.${account.region}.${account.dnsSuffix}`,
    ipAddressTypes: ["ipv4", "dualstack"],
    minSubnets: 1,
    alwaysGuarded: false,
    actions: ["forward"],
    attributes: NETWORK_ATTRIBUTES,
    protocols: {
      TCP: ["TCP", "TCP_UDP"],
      TLS: ["TCP", "TLS"],
      UDP: ["UDP", "TCP_UDP"],
      TCP_UDP: ["TCP_UDP"],
      QUIC: ["QUIC", "TCP_QUIC"],
      TCP_QUIC: ["TCP_QUIC"],
    },
  },
  application: {
    path: "app",
    interfaceType: "interface",
    quota: "applicationLoadBalancers",
    zone: "regional",
    ownerId: "amazon-elb",
    dnsName: (account, { name, id, scheme }) => {
      const number = Number.parseInt(id.slice(0, 8), 16);
      return `${scheme === "internal" ? "internal-" : ""}${name}-${number}.${account.region}.elb.${account.dnsSuffix}`;
    },
    ipAddressTypes: ["ipv4", "dualstack", "dualstack-without-public-ipv4"],
    minSubnets: 2,
    alwaysGuarded: true,
    actions: ["forward", "redirect", "fixed-response", "authenticate-oidc", "authenticate-cognito", "jwt-validation"],
    attributes: APPLICATION_ATTRIBUTES,
    protocols: { HTTP: ["HTTP", "HTTPS"], HTTPS: ["HTTP", "HTTPS"] },
  },
};

/** Says loudly that AWS has something and the simulated cloud has not. */
export function unmodelled(account: Account, what: string): ServiceError {
  account.log.error("the simulated cloud does not model this: answering InvalidAction", { what });
  return new ServiceError("InvalidAction", `The simulated cloud does not model ${what}.`);
}
