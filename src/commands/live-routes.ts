/** The route controller's plan as commands look at it. */
import { previewRoutes, type RoutePreview } from "../routes/preview.ts";
import { type Cidr, parseCidr } from "../runtime/ip.ts";
import { type Live, NotPossible } from "./live.ts";

/** What the route controller would do with the cluster's pod CIDRs. */
export function routesOf(live: Live): Promise<RoutePreview> {
  const { cloud, self, config, clusterName, clusterCidr, nodes, ask } = live;
  const where = { cluster: self.cluster, clusterName, vpc: self.vpc, routeTableId: config.aws.routeTableId };
  return previewRoutes(cloud, where, cidrsOf(clusterCidr), nodes.list(), ask);
}

function cidrsOf(text: string): Cidr[] {
  if (text.trim() === "") throw new NotPossible("give the pod CIDRs of the controllers: --cluster-cidr=10.244.0.0/16");
  return text.split(",").map((part) => {
    const cidr = parseCidr(part.trim());
    if (cidr === undefined) throw new NotPossible(`--cluster-cidr holds ${JSON.stringify(part.trim())}, which is not a CIDR`);
    return cidr;
  });
}
