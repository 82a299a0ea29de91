/** What the routes of the tables of Gateways refer to. */
import type { ListenerRuleSettings, TargetGroupConfiguration } from "../../src/loadbalancers/gateway/config.ts";
import { type GatewayGiven, oidcSecret } from "./gateway-table.ts";

/** By name. */
export function targetConfigurations({ namespace }: GatewayGiven): Readonly<Record<string, TargetGroupConfiguration>> {
  const of = (kind: string, name: string) => ({ kind, namespace, name });
  return {
    default: { defaultConfiguration: { targetGroupAttributes: [{ key: "deregistration_delay.timeout_seconds", value: "20" }] } },
    web: {
      targetReference: { name: "web" },
      defaultConfiguration: { targetType: "ip", tags: { service: "web" } },
      routeConfigurations: [
        {
          routeIdentifier: of("HTTPRoute", "checked"),
          targetGroupProps: {
            targetGroupName: `${namespace}-checked`,
            protocol: "HTTPS",
            healthCheckConfig: {
              healthCheckProtocol: "HTTP",
              healthCheckPort: "9000",
              healthCheckPath: "/up",
              healthCheckInterval: 20,
              healthCheckTimeout: 7,
              healthyThresholdCount: 4,
              unhealthyThresholdCount: 5,
              matcher: { httpCode: "200-204" },
            },
            targetGroupAttributes: [
              { key: "deregistration_delay.timeout_seconds", value: "30" },
              { key: "stickiness.enabled", value: "true" },
            ],
            enableMultiCluster: true,
          },
        },
        { routeIdentifier: of("HTTPRoute", "found"), targetGroupProps: { protocolVersion: "HTTP2" } },
        { routeIdentifier: of("TLSRoute", "passed"), targetGroupProps: { protocol: "TCP" } },
        {
          routeIdentifier: { kind: "TCPRoute", namespace },
          targetGroupProps: { targetGroupAttributes: [{ key: "preserve_client_ip.enabled", value: "true" }] },
        },
      ],
    },
    api: { targetReference: { name: "api" }, defaultConfiguration: { targetType: "ip" } },
    dns: { targetReference: { name: "dns" }, defaultConfiguration: { targetType: "ip" } },
    node: {
      targetReference: { name: "node" },
      routeConfigurations: [
        {
          routeIdentifier: of("HTTPRoute", "checked"),
          targetGroupProps: { nodeSelector: { matchLabels: { pool: "front" } }, healthCheckConfig: { healthCheckPort: "admin" } },
        },
      ],
    },
  };
}

/** By name. */
export const ruleConfigurations: Readonly<Record<string, ListenerRuleSettings>> = {
  fixed: {
    actions: [{ type: "fixed-response", fixedResponseConfig: { statusCode: 418, contentType: "text/html", messageBody: "no" } }],
    tags: { rule: "fixed" },
  },
  sticky: {
    actions: [{ type: "forward", forwardConfig: { targetGroupStickinessConfig: { enabled: true, durationSeconds: 200 } } }],
    conditions: [{ field: "source-ip", sourceIPConfig: { values: ["10.0.0.0/8"] }, matchIndexes: [0] }],
  },
  query: { actions: [{ type: "redirect", redirectConfig: { query: "from=shop" } }] },
  oidc: {
    actions: [
      {
        type: "authenticate-oidc",
        authenticateOIDCConfig: {
          issuer: "https://example.com",
          authorizationEndpoint: "https://example.com/authorize",
          tokenEndpoint: "https://example.com/token",
          userInfoEndpoint: "https://example.com/user",
          secret: { name: oidcSecret },
          authenticationRequestExtraParams: { display: "page" },
        },
      },
    ],
  },
  cognito: {
    actions: [
      {
        type: "authenticate-cognito",
        authenticateCognitoConfig: {
          userPoolArn: "arn:aws:cognito-idp:us-east-1:123456789012:userpool/us-east-1_abc",
          userPoolClientId: "client",
          userPoolDomain: "domain",
          scope: "email openid",
          onUnauthenticatedRequest: "deny",
          sessionTimeout: 3600,
        },
      },
    ],
  },
  jwt: {
    actions: [
      {
        type: "jwt-validation",
        jwtValidationConfig: {
          issuer: "https://example.com",
          jwksEndpoint: "https://example.com/jwks",
          additionalClaims: [{ name: "team", format: "single-string", values: ["a"] }],
        },
      },
    ],
  },
};
