/** Tests of the suite's profile that an application load balancer cannot pass, each with the reason. */
const secrets = "it takes certificates from Secrets: a load balancer has certificates of ACM only";

export const leftOut: Readonly<Record<string, string>> = {
  GatewayInvalidTLSConfiguration: secrets,
  GatewaySecretInvalidReferenceGrant: secrets,
  GatewaySecretMissingReferenceGrant: secrets,
  GatewaySecretReferenceGrantAllInNamespace: secrets,
  GatewaySecretReferenceGrantSpecific: secrets,
  GatewayWithAttachedRoutes: secrets,
  HTTPRouteHTTPSListener: secrets,
  HTTPRouteHostnameIntersection:
    "it names ports in Host headers, which AWS compares with the name (so the reference's report); the simulated load balancer does not, so that its verdict counts for nothing",
  HTTPRouteRequestHeaderModifier: "a load balancer changes no headers of requests",
  ListenerSetReferenceGrant: secrets,
};
