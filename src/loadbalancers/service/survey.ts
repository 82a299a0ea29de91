/** One look at a Service: what it asks for, read from its annotations, and what the core says of it. */
import type { Ask } from "../../aws/ask.ts";
import type { Nodes } from "../../identity/node-view.ts";
import { findLoadBalancers } from "../find.ts";
import { type Inventory, reconcileAges } from "../inventory.ts";
import type { Problem } from "../model.ts";
import type { SeenService } from "../service-state.ts";
import { type Survey, survey } from "../survey.ts";
import { type Targets, targetsOf } from "../targets.ts";
import { annotationKey } from "./annotations.ts";
import { desireService } from "./desire.ts";
import { type Kind, kindTable } from "./kinds.ts";
import { hasLabels, isEligible, targetOf } from "./nodes.ts";
import { readOptions, type ServiceOptions } from "./options.ts";
import { ownerOf } from "./owner.ts";
import { kindAmong, unknownType, type WantedKind } from "./type-annotation.ts";
import type { LoadBalancerSettings, ServiceView } from "./view.ts";

export interface SurveyParts {
  readonly inventory: Inventory;
  readonly nodes: Pick<Nodes, "list">;
  readonly settings: LoadBalancerSettings;
}

export interface ServiceSurvey extends Survey {
  readonly options: ServiceOptions;
  readonly warnings: readonly Problem[];
}

/** Looks. Attributes may be as old as said: they are read one load balancer at a time. */
export async function surveyService(
  service: SeenService,
  wanted: WantedKind,
  parts: SurveyParts,
  ask: Ask,
  attributesAgeMs = 0,
): Promise<ServiceSurvey> {
  const { inventory, settings } = parts;
  const view: ServiceView = { ...service.view, hostname: service.hostname };
  const owner = ownerOf(service, parts);
  const { found: standing, taken } = await findLoadBalancers(owner, inventory, reconcileAges, ask);
  const kind = kindAmong(wanted, standing, service.hostname);
  const { options, problems, warnings } = readOptions(view.annotations, kind);
  const targets = await eligibleTargets(options, parts, ask);
  const newName = options.name ?? owner.ownName;
  const stands = standing.some((lb) => lb.kind === kind);
  const isNews = wanted === "unknown" && (!stands || standing.some((lb) => lb.kind !== kind));
  const unknownTypeBeside = (found: Survey["found"]) => unknownType(view.annotations, found);
  const seen = await survey(
    {
      kind: kindTable[kind].kind,
      standing,
      newName,
      targets,
      observe: {
        owner,
        tags: Object.keys(options.tags).length > 0,
        targetGroupAttributes: options.targetGroupAttributes !== undefined,
        attributesKey: attributesKey(options),
        attributesAgeMs,
      },
      desire: (around) => desireService(view, kind, { options, settings, cluster: inventory.scope.cluster, ...around }),
      problemsWith: (desire, found, other) => [
        ...(isNews ? [unknownTypeBeside(found)] : []),
        ...problems,
        ...desire.problems,
        ...(found === undefined && taken.some(({ name }) => name === newName) ? [nameTaken(newName)] : []),
        ...(other && service.hostname !== "" && !options.replaceOnTypeChange ? [typeChanged(kind)] : []),
      ],
    },
    inventory,
    ask,
  );
  const oddities = [...(wanted === "unknown" && !isNews ? [unknownTypeBeside(seen.found)] : []), ...warnings, ...seen.desire.warnings];
  return { ...seen, options, warnings: oddities };
}

/** The instances a Service's traffic may go to. */
export function eligibleTargets({ targetNodeLabels }: ServiceOptions, { nodes, inventory }: SurveyParts, ask: Ask): Promise<Targets> {
  const eligible = nodes.list().filter((node) => isEligible(node) && hasLabels(node, targetNodeLabels));
  const ids = new Set(eligible.flatMap((node) => targetOf(node) ?? []));
  return targetsOf([...ids], inventory.cloud, inventory.scope, ask);
}

/** All of a Service's wishes that attributes follow from. */
function attributesKey({ accessLog, connectionDraining, idleTimeout, crossZone }: ServiceOptions): string {
  return JSON.stringify([accessLog, connectionDraining, idleTimeout, crossZone]);
}

function nameTaken(name: string): Problem {
  const annotation = annotationKey("name");
  return {
    annotation,
    message: `annotation ${annotation}=${JSON.stringify(name)}: a load balancer of this name exists in this account and region and is not this Service's; names are unique there: choose another`,
  };
}

function typeChanged(kind: Kind): Problem {
  const annotation = annotationKey("type");
  return {
    annotation,
    message: `cannot update Load Balancer Type annotation "${annotation}" after creation for ${kindTable[kind].title}; to have the load balancer replaced, which changes its host name, set ${annotationKey("type-change")}: replace`,
  };
}
