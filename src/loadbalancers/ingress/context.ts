/** What every part of the Ingress controller works with. */

import type { EventRecorder } from "../../identity/event-reasons.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Host } from "../../runtime/host.ts";
import type { HandOver } from "../elbv2/replacement.ts";
import type { FollowedSecrets, RequiredLabel } from "../followed-secrets.ts";
import type { BackendGroup } from "../groups/backend-group.ts";
import type { ClaimBook } from "../groups/claim-book.ts";
import type { Inventory } from "../inventory.ts";
import type { Services } from "../service-state.ts";
import type { Bindings } from "../targets/binding.ts";
import type { NewTargetGroups } from "../targets/new-groups.ts";
import type { Checkpoints } from "./checkpoint.ts";
import type { MemberModel } from "./desire.ts";
import type { GroupId } from "./groups.ts";
import type { IngressMetrics } from "./metrics.ts";
import type { MemberRefusals } from "./refusals.ts";
import type { Report } from "./report.ts";
import type { Classes, Ingresses, Namespaces, Params } from "./seen.ts";
import type { IngressSettings } from "./settings.ts";
import type { IngressView } from "./view.ts";

/** What the controller is given. */
export interface IngressParts {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly recorder: EventRecorder;
  readonly inventory: Inventory;
  readonly book: ClaimBook;
  readonly ingresses: Ingresses;
  readonly services: Services;
  readonly classes: Classes;
  readonly params: Params;
  readonly namespaces: Namespaces;
  readonly bindings: Bindings;
  readonly settings: IngressSettings;
  /** `--ingress-class` */
  readonly ingressClass: string;
  /** Shared with whoever else makes load balancers for the cluster. */
  readonly backendGroup: BackendGroup;
  readonly newGroups: NewTargetGroups;
  /** `--required-secrets-label` */
  readonly requiredSecretsLabel?: RequiredLabel;
  readonly concurrency: number;
  readonly syncPeriodMs: number;
}

/** That, and what the controller keeps. */
export interface GroupContext extends IngressParts {
  readonly report: Report;
  readonly metrics: IngressMetrics;
  readonly secrets: FollowedSecrets;
  /** What each Ingress asked for when it was last understood, by `namespace/name`. */
  readonly memory: Map<string, MemberModel>;
  /** Groups whose load balancer has taken the place of an old one that still stands. */
  readonly handedOver: Map<string, HandOver>;
  readonly refusals: MemberRefusals;
  readonly checkpoints: Checkpoints;
  /** When the records of certificates were written, by ARN. */
  readonly provenCertificates: Map<string, number>;
  /** Since when certificates that nothing asks for are seen in use, by ARN: wall-clock milliseconds. */
  readonly usedCertificates: Map<string, number>;
  /** Whether an Ingress, as it is now and with its class as that is now, has the address of this group. */
  isAddressed(ingress: IngressView, group: GroupId): boolean;
  /** Wall-clock milliseconds. */
  now(): number;
  /** How old attributes may be: AWS tells of them one load balancer at a time. */
  readonly attributesAgeMs: number;
}

/** What a look at a group goes by: what the controller follows, or what a command has listed. */
export interface SurveyContext extends Pick<GroupContext, "inventory" | "settings" | "attributesAgeMs" | "now"> {
  readonly provenCertificates: ReadonlyMap<string, number>;
  /** Absent where all of it is always looked at. */
  readonly checkpoints?: Pick<Checkpoints, "trustedMs">;
  /** What AWS has refused; absent where nothing was asked of it. */
  readonly refusals?: Pick<MemberRefusals, "of">;
  readonly ingresses: Pick<Ingresses, "get">;
  readonly services: Pick<Services, "get" | "list">;
  readonly secrets: Pick<FollowedSecrets, "follow" | "begin" | "read">;
  readonly backendGroup: Pick<BackendGroup, "id">;
  readonly memory: ReadonlyMap<string, MemberModel>;
}
