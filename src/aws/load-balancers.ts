/** Load balancers of the second generation, with their listeners and target groups, as AWS tells of them. */
import type { Listener, LoadBalancer, TargetGroup, TargetHealthDescription } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Clock } from "../runtime/world.ts";
import type { Ask } from "./ask.ts";
import { keyed, markedPages, pageSize, tagReader, unlessGone } from "./balancer-reads.ts";
import type { Caller } from "./caller.ts";
import {
  describeCapacityReservation,
  describeListeners,
  describeLoadBalancerAttributes,
  describeLoadBalancers,
  describeTags,
  describeTargetGroupAttributes,
  describeTargetGroups,
  describeTargetHealth,
} from "./elbv2-actions.ts";
import type { Tags } from "./instance.ts";

export class LoadBalancers {
  readonly #caller: Caller;
  readonly #tags: ReturnType<typeof tagReader>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#tags = tagReader(clock, async (ResourceArns, options) => {
      const { TagDescriptions = [] } = await caller.call(describeTags, { ResourceArns }, options);
      return TagDescriptions.map(({ ResourceArn: id = "", Tags: tags = [] }) => ({ id, tags }));
    });
  }

  /** All of the account and region. */
  list(ask: Ask): Promise<readonly LoadBalancer[]> {
    return markedPages(async (Marker) => {
      const answer = await this.#caller.call(describeLoadBalancers, { PageSize: pageSize, Marker }, ask);
      return { items: answer.LoadBalancers ?? [], next: answer.NextMarker };
    });
  }

  /** The one of this name, as it is now. */
  byName(name: string, ask: Ask): Promise<LoadBalancer | undefined> {
    return unlessGone(async () => (await this.#caller.call(describeLoadBalancers, { Names: [name] }, ask)).LoadBalancers?.[0]);
  }

  /** All of the account and region. */
  targetGroups(ask: Ask): Promise<readonly TargetGroup[]> {
    return markedPages(async (Marker) => {
      const answer = await this.#caller.call(describeTargetGroups, { PageSize: pageSize, Marker }, ask);
      return { items: answer.TargetGroups ?? [], next: answer.NextMarker };
    });
  }

  /** The one of this name, as it is now. */
  targetGroup(name: string, ask: Ask): Promise<TargetGroup | undefined> {
    return unlessGone(async () => (await this.#caller.call(describeTargetGroups, { Names: [name] }, ask)).TargetGroups?.[0]);
  }

  async listeners(loadBalancer: string, ask: Ask): Promise<readonly Listener[]> {
    const listeners = await unlessGone(() =>
      markedPages(async (Marker) => {
        const answer = await this.#caller.call(describeListeners, { LoadBalancerArn: loadBalancer, PageSize: pageSize, Marker }, ask);
        return { items: answer.Listeners ?? [], next: answer.NextMarker };
      }),
    );
    return listeners ?? [];
  }

  async attributes(loadBalancer: string, ask: Ask): Promise<Readonly<Record<string, string>>> {
    const answer = await unlessGone(() => this.#caller.call(describeLoadBalancerAttributes, { LoadBalancerArn: loadBalancer }, ask));
    return keyed(answer?.Attributes);
  }

  /** The capacity units that are reserved for it. */
  async capacity(loadBalancer: string, ask: Ask): Promise<number> {
    const answer = await unlessGone(() => this.#caller.call(describeCapacityReservation, { LoadBalancerArn: loadBalancer }, ask));
    return answer?.MinimumLoadBalancerCapacity?.CapacityUnits ?? 0;
  }

  async targetGroupAttributes(group: string, ask: Ask): Promise<Readonly<Record<string, string>>> {
    const answer = await unlessGone(() => this.#caller.call(describeTargetGroupAttributes, { TargetGroupArn: group }, ask));
    return keyed(answer?.Attributes);
  }

  async targetHealth(group: string, ask: Ask): Promise<readonly TargetHealthDescription[]> {
    const answer = await unlessGone(() => this.#caller.call(describeTargetHealth, { TargetGroupArn: group }, ask));
    return answer?.TargetHealthDescriptions ?? [];
  }

  /** The one of this ARN, as it is now. */
  targetGroupAt(arn: string, ask: Ask): Promise<TargetGroup | undefined> {
    return unlessGone(async () => (await this.#caller.call(describeTargetGroups, { TargetGroupArns: [arn] }, ask)).TargetGroups?.[0]);
  }

  /** How these targets of a group do, or all of them; undefined when there is no such group. */
  healthOf(
    group: string,
    targets: readonly { readonly id: string; readonly port: number }[] | undefined,
    ask: Ask,
  ): Promise<readonly TargetHealthDescription[] | undefined> {
    return unlessGone(async () => {
      const some = targets && { Targets: targets.map(({ id, port }) => ({ Id: id, Port: port })) };
      return (await this.#caller.call(describeTargetHealth, { TargetGroupArn: group, ...some }, ask)).TargetHealthDescriptions ?? [];
    });
  }

  /** The tags of a load balancer, listener or target group; undefined when there is no such thing. */
  tags(arn: string, ask: Ask): Promise<Tags | undefined> {
    return this.#tags(arn, ask);
  }
}
