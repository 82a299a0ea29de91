/** The configuration objects of group gateway.k8s.aws, as their authors write them: what is absent is left to a default. */
import type { LabelSelector } from "../targets/binding.ts";

export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

export interface LoadBalancerSubnet {
  readonly identifier?: string;
  readonly eipAllocation?: string;
  readonly privateIPv4Allocation?: string;
  readonly ipv6Allocation?: string;
  readonly sourceNatIPv6Prefix?: string;
}

export interface MutualAuthentication {
  readonly mode: "off" | "passthrough" | "verify";
  readonly trustStore?: string;
  readonly ignoreClientCertificateExpiry?: boolean;
  readonly advertiseTrustStoreCaNames?: "on" | "off";
}

export interface ListenerConfiguration {
  /** `HTTPS:443` */
  readonly protocolPort: string;
  readonly defaultCertificate?: string;
  readonly certificates?: readonly string[];
  readonly sslPolicy?: string;
  readonly alpnPolicy?: string;
  readonly targetGroupStickiness?: boolean;
  readonly mutualAuthentication?: MutualAuthentication;
  readonly listenerAttributes?: readonly KeyValue[];
  readonly quicEnabled?: boolean;
}

export type MergingMode = "prefer-gateway" | "prefer-gateway-class";

/** The spec of a LoadBalancerConfiguration. */
export interface LoadBalancerSettings {
  readonly mergingMode?: MergingMode;
  readonly loadBalancerName?: string;
  readonly scheme?: "internal" | "internet-facing";
  readonly ipAddressType?: "ipv4" | "dualstack" | "dualstack-without-public-ipv4";
  readonly enforceSecurityGroupInboundRulesOnPrivateLinkTraffic?: string;
  readonly customerOwnedIpv4Pool?: string;
  readonly ipv4IPAMPoolId?: string;
  readonly loadBalancerSubnets?: readonly LoadBalancerSubnet[];
  readonly loadBalancerSubnetsSelector?: Readonly<Record<string, readonly string[]>>;
  readonly listenerConfigurations?: readonly ListenerConfiguration[];
  readonly disableSecurityGroup?: boolean;
  readonly securityGroups?: readonly string[];
  readonly securityGroupPrefixes?: readonly string[];
  readonly sourceRanges?: readonly string[];
  readonly loadBalancerAttributes?: readonly KeyValue[];
  readonly tags?: Readonly<Record<string, string>>;
  readonly enableICMP?: boolean;
  readonly manageBackendSecurityGroupRules?: boolean;
  readonly minimumLoadBalancerCapacity?: { readonly capacityUnits: number };
  readonly wafV2?: { readonly webACL: string };
  readonly shieldConfiguration?: { readonly enabled?: boolean };
  readonly defaultTargetGroupConfiguration?: { readonly name: string };
}

export interface HealthCheckSettings {
  readonly healthCheckProtocol?: "HTTP" | "HTTPS" | "TCP";
  readonly healthCheckPort?: string;
  readonly healthCheckPath?: string;
  readonly healthCheckInterval?: number;
  readonly healthCheckTimeout?: number;
  readonly healthyThresholdCount?: number;
  readonly unhealthyThresholdCount?: number;
  readonly matcher?: { readonly httpCode?: string; readonly grpcCode?: string };
}

export interface TargetGroupSettings {
  readonly targetGroupName?: string;
  readonly ipAddressType?: "ipv4" | "ipv6";
  readonly targetType?: "instance" | "ip";
  readonly protocol?: "HTTP" | "HTTPS" | "TCP" | "TLS" | "UDP" | "TCP_UDP";
  readonly protocolVersion?: "HTTP1" | "HTTP2" | "GRPC";
  readonly healthCheckConfig?: HealthCheckSettings;
  readonly nodeSelector?: LabelSelector;
  readonly targetGroupAttributes?: readonly KeyValue[];
  readonly targetControlPort?: number;
  readonly enableMultiCluster?: boolean;
  readonly tags?: Readonly<Record<string, string>>;
}

export interface RouteIdentifier {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** The spec of a TargetGroupConfiguration. */
export interface TargetGroupConfiguration {
  readonly targetReference?: { readonly group?: string; readonly kind?: string; readonly name: string };
  readonly defaultConfiguration?: TargetGroupSettings;
  readonly routeConfigurations?: readonly { readonly routeIdentifier: RouteIdentifier; readonly targetGroupProps: TargetGroupSettings }[];
}

interface LogInSettings {
  readonly scope?: string;
  readonly authenticationRequestExtraParams?: Readonly<Record<string, string>>;
  readonly onUnauthenticatedRequest?: "deny" | "allow" | "authenticate";
  readonly sessionCookieName?: string;
  readonly sessionTimeout?: number;
}

export interface OidcSettings extends LogInSettings {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly userInfoEndpoint: string;
  readonly secret: { readonly name: string };
}

export interface CognitoSettings extends LogInSettings {
  readonly userPoolArn: string;
  readonly userPoolClientId: string;
  readonly userPoolDomain: string;
}

export interface JwtSettings {
  readonly issuer: string;
  readonly jwksEndpoint: string;
  readonly additionalClaims?: readonly { readonly name: string; readonly format: string; readonly values: readonly string[] }[];
}

/** An action of a rule; exactly the block that its type names is there. */
export interface RuleAction {
  readonly type: "forward" | "redirect" | "fixed-response" | "authenticate-oidc" | "authenticate-cognito" | "jwt-validation";
  readonly forwardConfig?: { readonly targetGroupStickinessConfig?: { readonly enabled?: boolean; readonly durationSeconds?: number } };
  readonly redirectConfig?: { readonly query?: string };
  readonly fixedResponseConfig?: { readonly statusCode: number; readonly contentType?: string; readonly messageBody?: string };
  readonly authenticateOIDCConfig?: OidcSettings;
  readonly authenticateCognitoConfig?: CognitoSettings;
  readonly jwtValidationConfig?: JwtSettings;
}

export interface RuleCondition {
  readonly field: "source-ip";
  readonly sourceIPConfig?: { readonly values: readonly string[] };
  /** Places of the matches that it is for; absent: all of them. */
  readonly matchIndexes?: readonly number[];
}

/** The spec of a ListenerRuleConfiguration. */
export interface ListenerRuleSettings {
  readonly actions?: readonly RuleAction[];
  readonly conditions?: readonly RuleCondition[];
  readonly tags?: Readonly<Record<string, string>>;
}

export interface ListenerRuleView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly settings: ListenerRuleSettings;
  readonly accepted?: boolean;
  readonly message?: string;
}
