/**
 * Features of the Gateway API that each kind of Gateway has, by the names of the API: what the conformance suite runs, and only what
 * passes. Rewrites and query parameters work without being here: the suite wants headers changed with the former, and names of the
 * latter told apart by their case.
 */
import type { Flavour } from "./flavours.ts";

const features: Readonly<Record<Flavour["name"], readonly string[]>> = {
  alb: [
    "Gateway",
    "HTTPRoute",
    "HTTPRouteDestinationPortMatching",
    "HTTPRouteMethodMatching",
    "HTTPRouteParentRefPort",
    "HTTPRoutePortRedirect",
    "HTTPRouteSchemeRedirect",
    "ReferenceGrant",
  ],
  nlb: ["Gateway", "ReferenceGrant", "TCPRoute", "TLSRoute", "UDPRoute"],
};

/** In the order that the API asks for. */
export const featuresOf = ({ name }: Pick<Flavour, "name">, withSets: boolean): readonly string[] =>
  [...features[name], ...(withSets ? ["ListenerSet"] : [])].toSorted();
