/** One process of the load balancer controller, whole, on a machine of its own. */
import { parseOptions } from "../../src/commands/load-balancer-controller/flags.ts";
import { operate } from "../../src/commands/load-balancer-controller/operate.ts";
import { ProcessReplica, type ReplicaScene, type Start } from "./process-replica.ts";

export interface BalancerScene extends ReplicaScene {
  readonly flags: readonly string[];
}

export class BalancerReplica extends ProcessReplica<BalancerScene> {
  protected override operate({ logs: _, ...start }: Start): Promise<void> {
    const { flags } = this.scene;
    return operate({ ...start, options: parseOptions(flags).values, version: "v0.0.0", master: "http://cluster" });
  }
}
