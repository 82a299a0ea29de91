/** Gateways as both controllers are given them: what a row of the tables says. */

import type { routes } from "../../src/loadbalancers/gateway/api.ts";
import type { LoadBalancerSettings } from "../../src/loadbalancers/gateway/config.ts";
import { type Backend, backendOf } from "../bed/gateway-world.ts";

/** What Gateways name and somebody else has made. */
export interface GatewayGiven {
  readonly namespace: string;
  /** Another one, with Services of the same names. */
  readonly far: string;
  readonly subnets: readonly string[];
  readonly publicSubnets: readonly string[];
  /** One address in each of the private subnets. */
  readonly addresses: readonly string[];
  /** One for each of the public subnets. */
  readonly allocations: readonly string[];
  readonly securityGroup: string;
  /** Of another security group: what its tag `Name` says. */
  readonly securityGroupName: string;
  readonly prefixList: string;
  /** ARNs; the first is for `shop.example.com`, the second for `other.example.com` and all others below it. */
  readonly certificates: readonly [string, string];
  readonly trustStore: { readonly name: string; readonly arn: string };
  readonly targetGroup: { readonly name: string; readonly arn: string };
  readonly webAcl: { readonly name: string; readonly arn: string };
}

/** `HTTP:80`, `HTTPS:443 *.example.com`; or as the API has it. */
export type Listener = string | ({ readonly name: string } & Readonly<Record<string, unknown>>);

export interface RouteWish {
  /** HTTPRoute, unless it says otherwise. */
  readonly kind?: keyof typeof routes;
  readonly namespace?: string;
  readonly hostnames?: readonly string[];
  /** The Gateway as a whole, unless it says otherwise. */
  readonly parentRefs?: readonly object[];
  readonly rules: readonly object[];
}

export interface GatewayWish {
  readonly className?: string;
  readonly listeners: readonly Listener[];
  readonly settings?: LoadBalancerSettings;
  /** By name; names are unique in the table. */
  readonly routes?: Readonly<Record<string, RouteWish>>;
  /** Listeners of ListenerSets, by name. */
  readonly sets?: Readonly<Record<string, readonly Listener[]>>;
  /** More of the Gateway's spec. */
  readonly spec?: { readonly infrastructure?: object } & Readonly<Record<string, unknown>>;
}

/** `backendRefs` of a rule: `web:80`, `web:80 weight`. */
export const to = (...backends: readonly Backend[]) => ({ backendRefs: backends.map(backendOf) });

export const classOf = (namespace: string) => `alb-${namespace}`;
export const oidcSecret = "oidc";
