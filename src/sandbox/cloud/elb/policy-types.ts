/** The kinds of policies AWS offers, and the policies it has made itself. */
import type { PolicyTypeDescription } from "@aws-sdk/client-elastic-load-balancing";
import type { Policy } from "./state.ts";

const REFERENCE = "Reference-Security-Policy";
const VERSIONS = [
  "Protocol-SSLv2",
  "Protocol-SSLv3",
  "Protocol-TLSv1",
  "Protocol-TLSv1.1",
  "Protocol-TLSv1.2",
  "Server-Defined-Cipher-Order",
];
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
  "ECDHE-RSA-AES256-SHA",
  "ECDHE-ECDSA-AES256-SHA",
  "AES128-GCM-SHA256",
  "AES128-SHA256",
  "AES128-SHA",
  "AES256-GCM-SHA384",
  "AES256-SHA256",
  "AES256-SHA",
  "DES-CBC3-SHA",
];

/** The security policy of a secure listener for which none was chosen. */
export const DEFAULT_SECURITY_POLICY = "ELBSecurityPolicy-2016-08";

/** Oldest protocol version each predefined security policy speaks: https://docs.aws.amazon.com/elasticloadbalancing/latest/classic/elb-security-policy-table.html */
const SECURITY_POLICIES: Readonly<Record<string, readonly string[]>> = {
  "ELBSecurityPolicy-TLS-1-2-2017-01": ["Protocol-TLSv1.2", "Server-Defined-Cipher-Order"],
  "ELBSecurityPolicy-TLS-1-1-2017-01": ["Protocol-TLSv1.1", "Protocol-TLSv1.2", "Server-Defined-Cipher-Order"],
  "ELBSecurityPolicy-2016-08": ["Protocol-TLSv1", "Protocol-TLSv1.1", "Protocol-TLSv1.2", "Server-Defined-Cipher-Order"],
  "ELBSecurityPolicy-2015-05": ["Protocol-TLSv1", "Protocol-TLSv1.1", "Protocol-TLSv1.2", "Server-Defined-Cipher-Order"],
  "ELBSecurityPolicy-2015-03": ["Protocol-TLSv1", "Protocol-TLSv1.1", "Protocol-TLSv1.2", "Server-Defined-Cipher-Order"],
  "ELBSecurityPolicy-2015-02": ["Protocol-TLSv1", "Protocol-TLSv1.1", "Protocol-TLSv1.2", "Server-Defined-Cipher-Order"],
  "ELBSecurityPolicy-2014-10": ["Protocol-TLSv1", "Protocol-TLSv1.1", "Protocol-TLSv1.2", "Server-Defined-Cipher-Order"],
  "ELBSecurityPolicy-2014-01": ["Protocol-SSLv3", "Protocol-TLSv1", "Protocol-TLSv1.1", "Protocol-TLSv1.2", "Server-Defined-Cipher-Order"],
  "ELBSecurityPolicy-2011-08": ["Protocol-SSLv3", "Protocol-TLSv1"],
};

/** A security policy that spells out what a predefined one of AWS allows. */
export function securityPolicy(name: string, reference: string): Policy | undefined {
  const allowed = SECURITY_POLICIES[reference];
  if (allowed === undefined) return undefined;
  const switches = [...VERSIONS, ...CIPHERS].map((attribute) => ({
    name: attribute,
    value: String(allowed.includes(attribute) || (CIPHERS.includes(attribute) && attribute !== "DES-CBC3-SHA")),
  }));
  return { name, type: "SSLNegotiationPolicyType", attributes: [{ name: REFERENCE, value: reference }, ...switches] };
}

/** What DescribeLoadBalancerPolicies tells when no load balancer is named. */
export const SAMPLE_POLICIES: readonly Policy[] = [
  ...Object.keys(SECURITY_POLICIES).map((name) => securityPolicy(name, name)!),
  securityPolicy("ELBSample-ELBDefaultNegotiationPolicy", "ELBSecurityPolicy-2011-08")!,
  securityPolicy("ELBSample-OpenSSLDefaultNegotiationPolicy", "ELBSecurityPolicy-2011-08")!,
];

/** An attribute that must be given once, may be given once, or any number of times. */
type Cardinality = "ONE" | "ZERO_OR_ONE" | "ZERO_OR_MORE" | "ONE_OR_MORE";

/** What policies of one kind hold, and where they may be set. */
export interface PolicyType {
  readonly name: string;
  readonly description: string;
  /** Where it may be set. */
  readonly place: "http-listener" | "secure-listener" | "backend" | "nowhere";
  readonly attributes: readonly { readonly name: string; readonly type: string; readonly cardinality: Cardinality }[];
}

/** Every kind that AWS offers. */
export const POLICY_TYPES: readonly PolicyType[] = [
  {
    name: "SSLNegotiationPolicyType",
    description: "Listener policy that defines the ciphers and protocols that will be accepted by the load balancer.",
    place: "secure-listener",
    attributes: [
      { name: REFERENCE, type: "String", cardinality: "ZERO_OR_ONE" },
      ...[...VERSIONS, ...CIPHERS].map((name) => ({ name, type: "Boolean", cardinality: "ZERO_OR_ONE" as const })),
    ],
  },
  {
    name: "ProxyProtocolPolicyType",
    description: "Policy that controls whether to include the IP address and port of the originating request for TCP messages.",
    place: "backend",
    attributes: [{ name: "ProxyProtocol", type: "Boolean", cardinality: "ONE" }],
  },
  {
    name: "PublicKeyPolicyType",
    description: "Policy containing a list of public keys to accept when authenticating the back-end servers.",
    place: "nowhere",
    attributes: [{ name: "PublicKey", type: "String", cardinality: "ONE" }],
  },
  {
    name: "BackendServerAuthenticationPolicyType",
    description: "Policy that controls authentication to back-end servers and contains one or more policies of public keys.",
    place: "backend",
    attributes: [{ name: "PublicKeyPolicyName", type: "PolicyName", cardinality: "ONE_OR_MORE" }],
  },
  {
    name: "AppCookieStickinessPolicyType",
    description: "Stickiness policy with session lifetimes controlled by the lifetime of the application's cookie.",
    place: "http-listener",
    attributes: [{ name: "CookieName", type: "String", cardinality: "ONE" }],
  },
  {
    name: "LBCookieStickinessPolicyType",
    description: "Stickiness policy with session lifetimes controlled by the browser or a specified expiration period.",
    place: "http-listener",
    attributes: [{ name: "CookieExpirationPeriod", type: "Long", cardinality: "ZERO_OR_ONE" }],
  },
];

/** A policy type as answers carry it. */
export function describePolicyType(type: PolicyType): PolicyTypeDescription {
  return {
    PolicyTypeName: type.name,
    Description: type.description,
    PolicyAttributeTypeDescriptions: type.attributes.map((attribute) => ({
      AttributeName: attribute.name,
      AttributeType: attribute.type,
      Cardinality: attribute.cardinality,
    })),
  };
}
