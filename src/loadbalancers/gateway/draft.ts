/** What the model of a Gateway's load balancer is made from. */
import type { SecurityGroup } from "../../aws/security-groups.ts";
import type { Certificate } from "../certificate-choice.ts";
import type { SecretData } from "../followed-secrets.ts";
import type { Found } from "../kind.ts";
import type { Network } from "../subnets.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import type { Attachment } from "./attachment.ts";
import type { BackendSources } from "./backends.ts";
import type { ListenerRuleView, LoadBalancerSettings, TargetGroupConfiguration } from "./config.ts";
import type { AskedRule, RefusalOf } from "./findings.ts";
import type { AddOn, Flavour } from "./flavours.ts";
import type { JudgedListener } from "./listener-validation.ts";
import type { GatewaySettings } from "./settings.ts";
import type { StandingListener } from "./standing.ts";
import type { GatewayView } from "./view.ts";

/** What is asked for: the Gateway, what it is configured with, and what attaches to it. */
export interface GatewayWish {
  readonly gateway: GatewayView;
  readonly flavour: Flavour;
  /** Of its class and its own, merged. */
  readonly config: LoadBalancerSettings;
  /** The default of its target groups. */
  readonly targets?: TargetGroupConfiguration;
  /** Whether routes that lead to one port of a Service have one target group between them. */
  readonly sharesTargetGroups?: boolean;
  readonly listeners: readonly JudgedListener[];
  readonly attachment: Attachment;
  /** Those that are recorded as enabled: one that is not asked for any more is disabled. */
  readonly addOns: ReadonlySet<AddOn>;
}

/** What it is asked of. */
export interface GatewaySources extends BackendSources {
  readonly settings: GatewaySettings;
  readonly network: Network;
  /** All groups of the VPC. */
  readonly groups: readonly SecurityGroup[];
  /** The group that load balancers share towards their targets. */
  readonly backendGroup?: string;
  /** Blocks of both families. */
  readonly vpcCidrs: readonly string[];
  /** The Gateway's load balancer that stands already. */
  readonly standing?: Found;
  /** Its target groups that stand. */
  readonly targetGroups: readonly SeenTargetGroup[];
  /** Its listeners that stand. */
  readonly standingListeners: readonly StandingListener[];
  /** Rules that were asked for last, as far as anybody remembers. */
  readonly formerRules: readonly AskedRule[];
  /** Names of target groups behind a load balancer that is being replaced. */
  readonly takenNames: readonly string[];
  /** Throws a `GatewayFault` where AWS could not be asked. */
  certificates(): readonly Certificate[];
  /** Throws a `GatewayFault` where AWS could not be asked. */
  trustStore(name: string): string | undefined;
  /** The configuration of a backend's target groups. */
  targetConfiguration(kind: "Service" | "Gateway", key: string): TargetGroupConfiguration | undefined;
  ruleConfiguration(key: string): ListenerRuleView | undefined;
  secret(name: string, user: ListenerRuleView): SecretData;
  isForeignTag(key: string): boolean;
  /** What AWS said when the same was asked of it before. */
  readonly refusal: RefusalOf;
}

export interface Draft extends GatewayWish, GatewaySources {}
