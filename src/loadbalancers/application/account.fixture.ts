/**
 * A little account that carries out the steps of plans as AWS would, as far as plans go by its answers: what stands after one
 * plan is what the next one compares with.
 */
import type { Action, RuleCondition, RuleTransform } from "@aws-sdk/client-elastic-load-balancing-v2";
import { isMade, resolved, type Step } from "../../aws/plan.ts";
import type { Attributes, Tags } from "../model.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import { seeTargetGroup } from "../target-groups.ts";
import type { SeenApplication } from "./plan.ts";
import type { SeenListener } from "./plan-listeners.ts";
import type { SeenRule } from "./plan-rules.ts";

// biome-ignore lint/suspicious/noExplicitAny: inputs of every action there is
type Input = any;
type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export const partTag = "part";

export class Account {
  /** The names of all calls, in order. */
  readonly calls: string[] = [];
  readonly #ids = new Map<string, string>();
  readonly #rules = new Map<string, Mutable<SeenRule> & { listener: string }>();
  readonly #listeners = new Map<string, Mutable<SeenListener>>();
  readonly #groups = new Map<string, Mutable<SeenTargetGroup>>();
  #loadBalancer: Mutable<NonNullable<SeenApplication["loadBalancer"]>> | undefined;
  #count = 0;

  seen(): SeenApplication {
    const listeners = [...this.#listeners.values()].map((listener) => ({
      ...listener,
      rules: [...this.#rules.values()].filter((rule) => rule.listener === listener.arn).toSorted((a, b) => a.priority - b.priority),
    }));
    return {
      kind: "application",
      ...(this.#loadBalancer && { loadBalancer: { ...this.#loadBalancer, listeners } }),
      targetGroups: [...this.#groups.values()],
      isForeignTag: () => false,
    };
  }

  /** Carries out every step; the names of the calls that it took. */
  run(steps: readonly Step[]): string[] {
    for (const { action, input, makes } of steps) {
      this.calls.push(action.name);
      const output = this.#call(action.name, resolved(input, this.#ids));
      const id = makes?.id(output);
      if (makes && id) this.#ids.set(makes.name, id);
    }
    return steps.map(({ action }) => action.name);
  }

  #call(name: string, input: Input): unknown {
    const arn = `arn:${++this.#count}`;
    const rule = () => this.#rules.get(input.RuleArn)!;
    const listener = () => this.#listeners.get(input.ListenerArn)!;
    const calls: Record<string, () => unknown> = {
      CreateTargetGroup: () => {
        const tags = tagsOf(input.Tags);
        const group = seeTargetGroup({ ...input, TargetGroupArn: arn, TargetGroupName: input.Name }, [], {});
        this.#groups.set(arn, { ...group, tags, part: tags[partTag] });
        return { TargetGroups: [{ TargetGroupArn: arn }] };
      },
      ModifyTargetGroup: () => undefined,
      DeleteTargetGroup: () => this.#groups.delete(input.TargetGroupArn),
      ModifyTargetGroupAttributes: () => this.#set(this.#groups.get(input.TargetGroupArn)!, input),
      CreateLoadBalancer: () => {
        this.#loadBalancer = {
          arn,
          subnets: input.SubnetMappings.map(({ SubnetId }: Input) => SubnetId),
          securityGroups: input.SecurityGroups,
          addressType: input.IpAddressType,
          ipv4IpamPool: input.IpamPools?.Ipv4IpamPoolId,
          attributes: { "deletion_protection.enabled": "false", "idle_timeout.timeout_seconds": "60" },
          tags: tagsOf(input.Tags),
          listeners: [],
        };
        return { LoadBalancers: [{ LoadBalancerArn: arn, DNSName: `${input.Name}.elb.amazonaws.com` }] };
      },
      SetSubnets: () => {
        this.#loadBalancer!.subnets = input.SubnetMappings.map(({ SubnetId }: Input) => SubnetId);
      },
      SetSecurityGroups: () => {
        this.#loadBalancer!.securityGroups = input.SecurityGroups;
      },
      SetIpAddressType: () => {
        this.#loadBalancer!.addressType = input.IpAddressType;
      },
      ModifyIpPools: () => {
        this.#loadBalancer!.ipv4IpamPool = input.IpamPools?.Ipv4IpamPoolId;
      },
      ModifyCapacityReservation: () => {
        this.#loadBalancer!.capacity = input.MinimumLoadBalancerCapacity?.CapacityUnits ?? 0;
      },
      ModifyLoadBalancerAttributes: () => this.#set(this.#loadBalancer!, input),
      CreateListener: () => {
        if ([...this.#listeners.values()].some(({ port }) => port === input.Port)) throw new Error("DuplicateListener");
        this.#listeners.set(arn, {
          ...listenerOf(input),
          arn,
          furtherCertificates: [],
          attributes: {},
          tags: tagsOf(input.Tags),
          rules: [],
        });
        return { Listeners: [{ ListenerArn: arn }] };
      },
      ModifyListener: () => Object.assign(listener(), listenerOf(input)),
      DeleteListener: () => this.#listeners.delete(input.ListenerArn),
      ModifyListenerAttributes: () => this.#set(listener(), input),
      AddListenerCertificates: () => {
        listener().furtherCertificates = [...listener().furtherCertificates, input.Certificates[0].CertificateArn];
      },
      RemoveListenerCertificates: () => {
        listener().furtherCertificates = listener().furtherCertificates.filter((each) => each !== input.Certificates[0].CertificateArn);
      },
      CreateRule: () => {
        const { ListenerArn, Priority: priority, Conditions, Actions, Transforms = [], Tags } = input;
        this.#free(ListenerArn, priority);
        const made = { arn, priority, conditions: Conditions, actions: Actions, transforms: Transforms, tags: tagsOf(Tags) };
        this.#rules.set(arn, { ...made, listener: ListenerArn });
        return { Rules: [{ RuleArn: arn }] };
      },
      ModifyRule: () => {
        const { Conditions, Actions, Transforms, ResetTransforms } = input;
        const settings: { conditions: RuleCondition[]; actions: Action[]; transforms?: RuleTransform[] } = {
          conditions: Conditions,
          actions: Actions,
        };
        if (Transforms || ResetTransforms) settings.transforms = Transforms ?? [];
        return Object.assign(rule(), settings);
      },
      DeleteRule: () => this.#rules.delete(input.RuleArn),
      SetRulePriorities: () => {
        for (const { RuleArn, Priority } of input.RulePriorities) this.#rules.get(RuleArn)!.priority = Priority;
        const places = [...this.#rules.values()].map(({ listener: of, priority }) => `${of} ${priority}`);
        if (new Set(places).size < places.length) throw new Error("PriorityInUse");
      },
      AddTags: () => this.#tag(input.ResourceArns, (tags) => ({ ...tags, ...tagsOf(input.Tags) })),
      RemoveTags: () =>
        this.#tag(input.ResourceArns, (tags) => Object.fromEntries(Object.entries(tags).filter(([key]) => !input.TagKeys.includes(key)))),
    };
    const call = calls[name];
    if (call === undefined) throw new Error(`the account knows no ${name}`);
    return call();
  }

  #free(listener: string, priority: number): void {
    const isTaken = [...this.#rules.values()].some((rule) => rule.listener === listener && rule.priority === priority);
    if (isTaken) throw new Error("PriorityInUse");
  }

  #set(thing: { attributes: Attributes }, { Attributes: given }: Input): void {
    thing.attributes = { ...thing.attributes, ...tagsOf(given) };
  }

  #tag(arns: readonly string[], change: (tags: Tags) => Tags): void {
    for (const arn of arns) {
      const thing =
        this.#loadBalancer?.arn === arn ? this.#loadBalancer : (this.#listeners.get(arn) ?? this.#rules.get(arn) ?? this.#groups.get(arn));
      if (thing === undefined || isMade(arn)) throw new Error(`nothing has the ARN ${arn}`);
      thing.tags = change(thing.tags ?? {});
    }
  }
}

const tagsOf = (tags: readonly Input[]): Tags => Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value]));

const listenerOf = ({ Port, Protocol, DefaultActions, Certificates, SslPolicy, MutualAuthentication }: Input) => ({
  port: Port,
  protocol: Protocol,
  actions: DefaultActions,
  certificate: Certificates?.[0]?.CertificateArn,
  sslPolicy: SslPolicy,
  mutualTls: MutualAuthentication,
});
