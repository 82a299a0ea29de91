/** Predefined security policies of listeners. */
import {
  DescribeSSLPolicies$,
  type DescribeSSLPoliciesInput,
  type DescribeSSLPoliciesOutput,
  type SslPolicy,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { markerPage } from "../balancing/pages.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read } from "../service.ts";
import type { Elbv2 } from "./state.ts";

/** What listeners get for which none was chosen. */
export const DEFAULT_SSL_POLICY = "ELBSecurityPolicy-2016-08";

const TLS_1_2_AND_OLDER = ["TLSv1", "TLSv1.1", "TLSv1.2"];

/** Names with the protocol versions they allow: https://docs.aws.amazon.com/elasticloadbalancing/latest/network/describe-ssl-policies.html */
const POLICIES: Readonly<Record<string, readonly string[]>> = {
  "ELBSecurityPolicy-2016-08": TLS_1_2_AND_OLDER,
  "ELBSecurityPolicy-TLS-1-0-2015-04": TLS_1_2_AND_OLDER,
  "ELBSecurityPolicy-TLS-1-1-2017-01": ["TLSv1.1", "TLSv1.2"],
  "ELBSecurityPolicy-TLS-1-2-2017-01": ["TLSv1.2"],
  "ELBSecurityPolicy-TLS-1-2-Ext-2018-06": ["TLSv1.2"],
  "ELBSecurityPolicy-FS-2018-06": TLS_1_2_AND_OLDER,
  "ELBSecurityPolicy-FS-1-1-2019-08": ["TLSv1.1", "TLSv1.2"],
  "ELBSecurityPolicy-FS-1-2-2019-08": ["TLSv1.2"],
  "ELBSecurityPolicy-FS-1-2-Res-2019-08": ["TLSv1.2"],
  "ELBSecurityPolicy-FS-1-2-Res-2020-10": ["TLSv1.2"],
  "ELBSecurityPolicy-TLS13-1-0-2021-06": [...TLS_1_2_AND_OLDER, "TLSv1.3"],
  "ELBSecurityPolicy-TLS13-1-1-2021-06": ["TLSv1.1", "TLSv1.2", "TLSv1.3"],
  "ELBSecurityPolicy-TLS13-1-2-2021-06": ["TLSv1.2", "TLSv1.3"],
  "ELBSecurityPolicy-TLS13-1-2-Ext1-2021-06": ["TLSv1.2", "TLSv1.3"],
  "ELBSecurityPolicy-TLS13-1-2-Ext2-2021-06": ["TLSv1.2", "TLSv1.3"],
  "ELBSecurityPolicy-TLS13-1-2-Res-2021-06": ["TLSv1.2", "TLSv1.3"],
  "ELBSecurityPolicy-TLS13-1-3-2021-06": ["TLSv1.3"],
  "ELBSecurityPolicy-TLS13-1-2-FIPS-2023-04": ["TLSv1.2", "TLSv1.3"],
  "ELBSecurityPolicy-TLS13-1-3-FIPS-2023-04": ["TLSv1.3"],
  "ELBSecurityPolicy-TLS13-1-2-Res-PQ-2025-09": ["TLSv1.2", "TLSv1.3"],
  "ELBSecurityPolicy-TLS13-1-3-PQ-2025-09": ["TLSv1.3"],
};
const CIPHERS_1_2 = ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384"];
const CIPHERS_1_3 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

/** The operation that lists them. */
export function sslPolicyOperations(elbv2: Elbv2): Operations {
  return [
    read<DescribeSSLPoliciesInput, DescribeSSLPoliciesOutput>(DescribeSSLPolicies$, (input) => {
      const names = input.Names?.length ? input.Names.map(checkedSslPolicy) : Object.keys(POLICIES);
      const { items, NextMarker } = markerPage(elbv2.account, names, (name) => name, input);
      return { SslPolicies: items.map(describe), NextMarker };
    }),
  ];
}

/** A policy that AWS has. */
export function checkedSslPolicy(name: string): string {
  if (POLICIES[name] === undefined) throw new ServiceError("SSLPolicyNotFound", `SSL policy '${name}' not found`);
  return name;
}

function describe(name: string): SslPolicy {
  const protocols = POLICIES[name] ?? [];
  const ciphers = [...(protocols.includes("TLSv1.3") ? CIPHERS_1_3 : []), ...(protocols.includes("TLSv1.2") ? CIPHERS_1_2 : [])];
  return {
    Name: name,
    SslProtocols: [...protocols],
    Ciphers: ciphers.map((Name, index) => ({ Name, Priority: index + 1 })),
    SupportedLoadBalancerTypes: ["application", "network"],
  };
}
