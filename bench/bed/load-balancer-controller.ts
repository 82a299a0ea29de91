/** The load balancer controller that is being measured: ours, and the reference's. */
import { realWorld } from "../../src/runtime/world.ts";
import { freePort } from "../../src/sandbox/cluster/real/free-port.ts";
import { endpointFlag, placeFlags, webhookFlags } from "../../test/referees/balancer-flags.ts";
import { referenceLoadBalancerController } from "../../test/referees/reference.ts";
import { clusterId, region } from "./cloud.ts";
import type { Entrant } from "./entrants.ts";
import { type StartProgram, started } from "./program.ts";

/** As many workers as people give it who run large clusters. */
const tuning = [
  "--ingress-max-concurrent-reconciles=20",
  "--service-max-concurrent-reconciles=20",
  "--targetgroupbinding-max-concurrent-reconciles=20",
];

/** The same entrant as a load balancer controller. */
export async function asLoadBalancerController(entrant: Entrant): Promise<Entrant> {
  if (entrant.name !== "fairlead") return { ...entrant, command: await referenceLoadBalancerController(console.error), args: tuning };
  return { ...entrant, args: [...entrant.args.slice(0, -1), "load-balancer-controller", "--feature-gates=IngressController=true"] };
}

export const startLoadBalancerController: StartProgram = async (entrant, { cluster, cloud, account, flags }) => {
  const port = await freePort(realWorld());
  const place = [
    ...placeFlags({ clusterName: clusterId, region, vpc: cloud.network.vpcId }),
    endpointFlag(cloud.url),
    `--kubeconfig=${await account.kubeconfig()}`,
    `--metrics-bind-addr=127.0.0.1:${port}`,
  ];
  const webhooks = entrant.name === "fairlead" ? [] : await webhookFlags(cluster);
  return started(entrant, cluster, [...place, ...webhooks, ...flags], new URL(`http://127.0.0.1:${port}`));
};
