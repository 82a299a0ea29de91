/** What every part of the Gateway controllers works with. */
import type { EventRecorder } from "../../identity/event-reasons.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Informer } from "../../kube/informer.ts";
import type { Host } from "../../runtime/host.ts";
import type { CheckpointRecord } from "../checkpoints.ts";
import type { ControllerMetrics } from "../controller-metrics.ts";
import type { HandOver } from "../elbv2/replacement.ts";
import type { FollowedSecrets } from "../followed-secrets.ts";
import type { BackendGroup } from "../groups/backend-group.ts";
import type { ClaimBook } from "../groups/claim-book.ts";
import type { Inventory } from "../inventory.ts";
import type { Services } from "../service-state.ts";
import type { Bindings } from "../targets/binding.ts";
import type { NewTargetGroups } from "../targets/new-groups.ts";
import type { Discovery } from "./activation.ts";
import type { AskedRule } from "./findings.ts";
import type { Flavour } from "./flavours.ts";
import type { GatewayRefusals } from "./refused.ts";
import type { Report, SeenGateway } from "./report.ts";
import type { GatewayKeys, NamespaceState, Objects, Shared } from "./seen.ts";
import type { GatewaySettings } from "./settings.ts";

/** What all controllers of Gateways, classes and configurations are given. */
export interface GatewayParts {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly recorder: EventRecorder;
  readonly keys: GatewayKeys;
  readonly shared: Shared;
  readonly discovery: Discovery;
  readonly services: Services;
  readonly namespaces: Informer<NamespaceState>;
  /** Whether ListenerSets are served where the API server knows them: the gate `GatewayListenerSet`. */
  readonly takesSets: boolean;
  readonly concurrency: number;
}

/** What the controller of one kind of Gateway is given. */
export interface FlavourParts extends GatewayParts {
  readonly flavour: Flavour;
  readonly inventory: Inventory;
  readonly book: ClaimBook;
  /** Shared with whoever else makes load balancers for the cluster. */
  readonly backendGroup: BackendGroup;
  readonly newGroups: NewTargetGroups;
  readonly bindings: Bindings;
  readonly settings: GatewaySettings;
  readonly syncPeriodMs: number;
}

/** What is remembered of a Gateway between two looks; everything of it can be found out again. */
export interface GatewayMemory {
  /** Whether its targets are opened for the group that load balancers share. */
  readonly usesBackendGroup: boolean;
  /** Whether everything was read: from then on everything always is. */
  readonly isRead: boolean;
}

/** That, and what the controller keeps. */
export interface GatewayContext extends FlavourParts {
  readonly objects: Objects;
  readonly report: Report;
  readonly metrics: ControllerMetrics;
  readonly secrets: FollowedSecrets;
  /** By `namespace/name`. */
  readonly memory: Map<string, GatewayMemory>;
  /** Gateways whose next look reads everything, because it was not read for long. */
  readonly due: Set<string>;
  /** Since when a Gateway's listeners wait for the targets of new groups, on the monotonic clock. */
  readonly moving: Map<string, number>;
  /** Since when a Gateway has been of another controller's class, on the monotonic clock. */
  readonly leaving: Map<string, number>;
  /** How often in a row a load balancer was seen that is not active yet. */
  readonly polls: Map<string, number>;
  /** Gateways whose load balancer has taken the place of an old one that still stands. */
  readonly handedOver: Map<string, HandOver>;
  /** What AWS has refused of rules, target groups and ports. */
  readonly refusals: GatewayRefusals;
  /** The rules that each Gateway asked for last, by `namespace/name`: of which rule of a route each is. */
  readonly formerRules: Map<string, readonly AskedRule[]>;
  readonly checkpoints: CheckpointRecord<SeenGateway>;
}

/** What a look at a Gateway goes by: what the controller follows, or what a command has listed. */
export interface SurveyContext extends Pick<GatewayContext, "inventory" | "settings" | "flavour" | "objects"> {
  readonly secrets: Pick<FollowedSecrets, "follow" | "begin" | "read">;
  /** The id of the group that load balancers share towards their targets; undefined where they share none. */
  backendGroup(by: Parameters<BackendGroup["id"]>[0]): Promise<string | undefined>;
  /** What AWS has refused; absent where nothing was asked of it. */
  readonly refusals?: Pick<GatewayContext["refusals"], "of">;
  /** Absent where nothing is remembered. */
  readonly formerRules?: Pick<GatewayContext["formerRules"], "get">;
}
