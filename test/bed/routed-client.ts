/** A client before a load balancer of the simulated cloud, who counts what becomes of its requests. */
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import { createElbv2, type LoadBalancer, listenersOf } from "../../src/sandbox/cloud/elbv2/state.ts";
import { requestFor } from "../../src/sandbox/cloud/traffic/request.ts";
import { route } from "../../src/sandbox/cloud/traffic/route.ts";
import { routingOf } from "../../src/sandbox/cloud/traffic/view.ts";

export class RoutedClient {
  readonly #cloud: Cloud;
  readonly #elbv2;
  readonly #isBefore: (balancer: LoadBalancer) => boolean;
  readonly #answers: (target: string) => boolean;
  #turns = 0;
  sent = 0;
  failed = 0;

  /** `answers` says whether a target, as `id:port`, is still there to answer. */
  constructor(cloud: Cloud, answers: (target: string) => boolean, isBefore: (balancer: LoadBalancer) => boolean = () => true) {
    this.#cloud = cloud;
    this.#elbv2 = createElbv2(cloud.account);
    this.#answers = answers;
    this.#isBefore = isBefore;
  }

  /** One request: it fails where the load balancer answers itself, and where its target is gone. */
  send(): void {
    this.#cloud.account.time.settle();
    const balancer = this.#elbv2.loadBalancers.values().find(this.#isBefore)!;
    const [listener] = listenersOf(this.#elbv2, balancer.arn);
    const routing = { ...routingOf(this.#elbv2, balancer, listener!, () => this.#turns++), admits: () => true };
    const decision = route(routing, requestFor(`http://${balancer.dnsName}/`));
    this.sent++;
    if (decision.kind !== "forwarded") this.failed++;
    else if (!this.#answers(`${decision.choice.target.id}:${decision.choice.target.port}`)) this.failed++;
  }
}
