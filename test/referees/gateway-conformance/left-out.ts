/** Tests of the suite that a load balancer of AWS cannot pass, each with the reason. */
import type { Flavour } from "../../../src/loadbalancers/gateway/flavours.ts";

type LeftOut = Readonly<Record<string, string>>;

const secrets = "it takes certificates from Secrets: a load balancer has certificates of ACM only";
const noListener =
  "it wants a connection accepted and then closed: a network load balancer listens only where it has somewhere to forward to";
const unclaimed = "the class does not claim TLSRouteModeTerminate, whose other tests cannot pass";
const both = "a network load balancer terminates TLS on a port or passes it through, whatever host is asked for";

/** Of the profile GATEWAY-HTTP. */
const application: LeftOut = {
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

/** Of the tests of TCPRoutes, UDPRoutes and TLSRoutes. */
const network: LeftOut = {
  TLSRouteHostnameIntersection:
    "it wants routes chosen by the host that a client asks for: a network load balancer serves one route per port",
  TLSRouteInvalidBackendRefNonexistent: noListener,
  TLSRouteInvalidBackendRefUnknownKind: noListener,
  TLSRouteListenerMixedTerminationNotSupported:
    "it wants neither of two listeners that are in conflict served: the first one is, as in the reference",
  TLSRouteListenerPassthroughSupportedKinds:
    "it wants TCPRoutes refused where TLS is passed through: to a network load balancer they are the same, and the reference takes them",
  TLSRouteListenerTerminateNotSupported:
    "it wants listeners refused that terminate TLS: a network load balancer does, with certificates of ACM",
  TLSRouteListenerTerminateSupportedKinds: unclaimed,
  TLSRouteMixedTerminationSameNamespace: both,
  TLSRouteTerminateSimpleSameNamespace: secrets,
};

export const leftOut: Readonly<Record<Flavour["name"], LeftOut>> = { alb: application, nlb: network };
