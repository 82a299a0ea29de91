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

/** TLS 1.2 and older offer these, in AWS's order. */
const CIPHERS = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES128-SHA256",
  "ECDHE-RSA-AES128-SHA256",
  "ECDHE-ECDSA-AES128-SHA",
  "ECDHE-RSA-AES128-SHA",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-AES256-SHA384",
  "ECDHE-RSA-AES256-SHA384",
  "ECDHE-ECDSA-AES256-SHA",
  "ECDHE-RSA-AES256-SHA",
  "AES128-GCM-SHA256",
  "AES128-SHA256",
  "AES128-SHA",
  "AES256-GCM-SHA384",
  "AES256-SHA256",
  "AES256-SHA",
  "DES-CBC3-SHA",
];
const CIPHERS_1_3 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

/** Which of the ciphers of TLS 1.2 and older a policy offers. */
const CHOICES = {
  none: () => false,
  /** Forward secrecy and authenticated encryption. */
  strict: (cipher: string) => /^ECDHE-.*-GCM-/.test(cipher),
  /** Forward secrecy, no SHA-1. */
  secret: (cipher: string) => /^ECDHE-.*-SHA\d+$/.test(cipher),
  /** Forward secrecy. */
  secretOld: (cipher: string) => cipher.startsWith("ECDHE-"),
  /** No SHA-1. */
  modern: (cipher: string) => /-SHA\d+$/.test(cipher),
  usual: (cipher: string) => cipher !== "DES-CBC3-SHA",
  all: () => true,
};

/** Versions of TLS, oldest and newest, and the choice of ciphers: https://docs.aws.amazon.com/elasticloadbalancing/latest/network/describe-ssl-policies.html */
const POLICIES: Readonly<Record<string, readonly [oldest: string, newest: string, choice: keyof typeof CHOICES]>> = {
  "ELBSecurityPolicy-2016-08": ["TLSv1", "TLSv1.2", "usual"],
  "ELBSecurityPolicy-TLS-1-0-2015-04": ["TLSv1", "TLSv1.2", "all"],
  "ELBSecurityPolicy-TLS-1-1-2017-01": ["TLSv1.1", "TLSv1.2", "usual"],
  "ELBSecurityPolicy-TLS-1-2-2017-01": ["TLSv1.2", "TLSv1.2", "modern"],
  "ELBSecurityPolicy-TLS-1-2-Ext-2018-06": ["TLSv1.2", "TLSv1.2", "usual"],
  "ELBSecurityPolicy-FS-2018-06": ["TLSv1", "TLSv1.2", "secretOld"],
  "ELBSecurityPolicy-FS-1-1-2019-08": ["TLSv1.1", "TLSv1.2", "secretOld"],
  "ELBSecurityPolicy-FS-1-2-2019-08": ["TLSv1.2", "TLSv1.2", "secretOld"],
  "ELBSecurityPolicy-FS-1-2-Res-2019-08": ["TLSv1.2", "TLSv1.2", "secret"],
  "ELBSecurityPolicy-FS-1-2-Res-2020-10": ["TLSv1.2", "TLSv1.2", "strict"],
  "ELBSecurityPolicy-TLS13-1-0-2021-06": ["TLSv1", "TLSv1.3", "usual"],
  "ELBSecurityPolicy-TLS13-1-1-2021-06": ["TLSv1.1", "TLSv1.3", "usual"],
  "ELBSecurityPolicy-TLS13-1-2-2021-06": ["TLSv1.2", "TLSv1.3", "secret"],
  "ELBSecurityPolicy-TLS13-1-2-Ext1-2021-06": ["TLSv1.2", "TLSv1.3", "modern"],
  "ELBSecurityPolicy-TLS13-1-2-Ext2-2021-06": ["TLSv1.2", "TLSv1.3", "usual"],
  "ELBSecurityPolicy-TLS13-1-2-Res-2021-06": ["TLSv1.2", "TLSv1.3", "strict"],
  "ELBSecurityPolicy-TLS13-1-3-2021-06": ["TLSv1.3", "TLSv1.3", "none"],
  "ELBSecurityPolicy-TLS13-1-2-FIPS-2023-04": ["TLSv1.2", "TLSv1.3", "secret"],
  "ELBSecurityPolicy-TLS13-1-3-FIPS-2023-04": ["TLSv1.3", "TLSv1.3", "none"],
  "ELBSecurityPolicy-TLS13-1-0-PQ-2025-09": ["TLSv1", "TLSv1.3", "usual"],
  "ELBSecurityPolicy-TLS13-1-2-PQ-2025-09": ["TLSv1.2", "TLSv1.3", "secret"],
  "ELBSecurityPolicy-TLS13-1-2-Ext1-PQ-2025-09": ["TLSv1.2", "TLSv1.3", "modern"],
  "ELBSecurityPolicy-TLS13-1-2-Ext2-PQ-2025-09": ["TLSv1.2", "TLSv1.3", "usual"],
  "ELBSecurityPolicy-TLS13-1-2-Res-PQ-2025-09": ["TLSv1.2", "TLSv1.3", "strict"],
  "ELBSecurityPolicy-TLS13-1-3-PQ-2025-09": ["TLSv1.3", "TLSv1.3", "none"],
};
const VERSIONS = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];

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
  const [oldest, newest, choice] = POLICIES[name]!;
  // ChaCha20 is no approved algorithm of FIPS 140.
  const forNewest = CIPHERS_1_3.filter((cipher) => !(name.includes("FIPS") && cipher.includes("CHACHA20")));
  const ciphers = [...(newest === "TLSv1.3" ? forNewest : []), ...CIPHERS.filter(CHOICES[choice])];
  return {
    Name: name,
    SslProtocols: VERSIONS.slice(VERSIONS.indexOf(oldest), VERSIONS.indexOf(newest) + 1),
    Ciphers: ciphers.map((Name, index) => ({ Name, Priority: index + 1 })),
    SupportedLoadBalancerTypes: ["application", "network"],
  };
}
