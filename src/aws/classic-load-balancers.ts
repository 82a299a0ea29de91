/** Classic load balancers, as AWS tells of them. */
import type { InstanceState, LoadBalancerAttributes, LoadBalancerDescription } from "@aws-sdk/client-elastic-load-balancing";
import type { Clock } from "../runtime/world.ts";
import type { Ask } from "./ask.ts";
import { markedPages, pageSize, tagReader, unlessGone } from "./balancer-reads.ts";
import type { Caller } from "./caller.ts";
import { describeInstanceHealth, describeLoadBalancerAttributes, describeLoadBalancers, describeTags } from "./elb-actions.ts";
import type { Tags } from "./instance.ts";

export class ClassicLoadBalancers {
  readonly #caller: Caller;
  readonly #tags: ReturnType<typeof tagReader>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#tags = tagReader(clock, async (LoadBalancerNames, options) => {
      const { TagDescriptions = [] } = await caller.call(describeTags, { LoadBalancerNames }, options);
      return TagDescriptions.map(({ LoadBalancerName: id = "", Tags: tags = [] }) => ({ id, tags }));
    });
  }

  /** All of the account and region. */
  list(ask: Ask): Promise<readonly LoadBalancerDescription[]> {
    return markedPages(async (Marker) => {
      const answer = await this.#caller.call(describeLoadBalancers, { PageSize: pageSize, Marker }, ask);
      return { items: answer.LoadBalancerDescriptions ?? [], next: answer.NextMarker };
    });
  }

  /** The one of this name, as it is now. */
  async byName(name: string, ask: Ask): Promise<LoadBalancerDescription | undefined> {
    return unlessGone(async () => {
      const answer = await this.#caller.call(describeLoadBalancers, { LoadBalancerNames: [name] }, ask);
      return answer.LoadBalancerDescriptions?.[0];
    });
  }

  attributes(name: string, ask: Ask): Promise<LoadBalancerAttributes | undefined> {
    return unlessGone(async () => {
      const answer = await this.#caller.call(describeLoadBalancerAttributes, { LoadBalancerName: name }, ask);
      return answer.LoadBalancerAttributes;
    });
  }

  /** How each registered instance does in the eyes of the load balancer. */
  async health(name: string, ask: Ask): Promise<readonly InstanceState[]> {
    const answer = await unlessGone(() => this.#caller.call(describeInstanceHealth, { LoadBalancerName: name }, ask));
    return answer?.InstanceStates ?? [];
  }

  /** Undefined when there is no such load balancer. */
  tags(name: string, ask: Ask): Promise<Tags | undefined> {
    return this.#tags(name, ask);
  }
}
