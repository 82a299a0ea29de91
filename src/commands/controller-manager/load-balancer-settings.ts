/** What the cloud config says about load balancers, as their domain takes it. */
import type { LoadBalancerSettings } from "../../loadbalancers/service/view.ts";
import type { CloudConfig } from "./cloud-config.ts";

export function loadBalancerSettings({ loadBalancers }: CloudConfig, clusterName: string, clusterId: string): LoadBalancerSettings {
  const { elbSecurityGroup, healthProbeMode, sharedHealthProbePort: port, sharedHealthProbePath: path } = loadBalancers;
  return {
    clusterName,
    clusterId,
    ...(elbSecurityGroup && { elbSecurityGroup }),
    ...(loadBalancers.publicNetworkAllowList.length > 0 && { publicNetworkAllowList: loadBalancers.publicNetworkAllowList }),
    disableNodeIngress: loadBalancers.disableSecurityGroupIngress,
    managedNetworkGroups: loadBalancers.nlbSecurityGroupMode === "Managed",
    ...(healthProbeMode === "Shared" && { sharedProbe: { port, path } }),
  };
}
