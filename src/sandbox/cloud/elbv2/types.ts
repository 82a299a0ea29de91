/** What sets the types of load balancers apart. Another type is another entry. */
import type { ProtocolEnum } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Account } from "../account.ts";
import type { Quotas } from "../controls/settings.ts";
import { ServiceError } from "../errors.ts";
import { type AttributeTable, NETWORK_ATTRIBUTES } from "./attribute-tables.ts";

/** The types that the cloud models. */
export type LoadBalancerType = "network";

/** What holds for one type. */
export interface TypeRules {
  /** In its ARN, and in the description of its interfaces. */
  readonly path: string;
  readonly interfaceType: string;
  readonly quota: keyof Quotas;
  readonly zone: "regional" | "network";
  readonly dnsName: (account: Account, name: string, id: string) => string;
  readonly attributes: AttributeTable;
  /** Protocols of its listeners, and for each the protocols of target groups it may forward to. */
  readonly protocols: Readonly<Partial<Record<ProtocolEnum, readonly ProtocolEnum[]>>>;
}

/** The rules of every type. */
export const TYPES: Readonly<Record<LoadBalancerType, TypeRules>> = {
  network: {
    path: "net",
    interfaceType: "network_load_balancer",
    quota: "networkLoadBalancers",
    zone: "network",
    dnsName: (account, name, id) => `${name}-${id}.elb.${account.region}.${account.dnsSuffix}`,
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
};

/** Says loudly that AWS has something and the simulated cloud has not. */
export function unmodelled(account: Account, what: string): ServiceError {
  account.log.error("the simulated cloud does not model this: answering InvalidAction", { what });
  return new ServiceError("InvalidAction", `The simulated cloud does not model ${what}.`);
}
