/** A health check of a network load balancer that ends at an application load balancer: it is answered as a client's request would be. */
import type { Probe, ProbeResult } from "../account.ts";
import { placeOf } from "../elbv2/places.ts";
import { type Elbv2, listenersOf } from "../elbv2/state.ts";
import { requestFor } from "./request.ts";
import { route } from "./route.ts";
import { routingOf } from "./view.ts";

/** Answers for the application load balancer whose ARN stands in the place of an address. */
export function balancerProbe(elbv2: Elbv2): Probe {
  return ({ address: arn, port, protocol, path = "/" }): ProbeResult => {
    const loadBalancer = elbv2.loadBalancers.get(arn);
    const listener = listenersOf(elbv2, arn).find((each) => each.port === port);
    if (loadBalancer?.state !== "active" || listener === undefined) return { kind: "refused" };
    // Load balancers of one VPC reach each other: what clients must pass is no matter here.
    const routing = { ...routingOf(elbv2, loadBalancer, listener, () => 0), admits: () => true };
    const decision = route(routing, requestFor(`http://${loadBalancer.dnsName}${path}`));
    switch (decision.kind) {
      case "dropped":
        return { kind: "silent" };
      case "answered":
        return { kind: "answered", status: decision.reply.status };
      case "forwarded": {
        const { group, target } = decision.choice;
        const place = placeOf(elbv2, elbv2.targetGroups.get(group.arn)!, target);
        const { path: asked } = decision.request;
        return elbv2.account.probe({ ...place, port: target.port, protocol: protocol === "HTTPS" ? "HTTPS" : "HTTP", path: asked });
      }
    }
  };
}
