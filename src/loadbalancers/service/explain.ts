/** One page about a Service's load balancer: what is wanted and why, what stands, what differs, and what to do next. */

import type { Ask } from "../../aws/ask.ts";
import type { SecurityGroup } from "../../aws/security-groups.ts";
import { section } from "../explain-sections.ts";
import { reconcileAges } from "../inventory.ts";
import type { BackendHealth, Found } from "../kind.ts";
import { type LoadBalancerModel, wantedGroups } from "../model.ts";
import type { SeenService } from "../service-state.ts";
import type { Survey } from "../survey.ts";
import { nodeGroupsOf, registrable } from "../targets.ts";
import { adviceFor } from "./advice.ts";
import { type AnnotationRow, annotationPrefix, annotationTable, sourceRangesAnnotation } from "./annotations.ts";
import type { Preview } from "./preview.ts";
import { otherServer } from "./seen.ts";
import type { SurveyParts } from "./survey.ts";

export interface Explained {
  readonly preview: Preview;
  readonly service: SeenService;
  /** What its last attempt failed with, if nothing shows that it is over. */
  readonly failures: readonly string[];
  /** Texts of the Warning Events that are still kept. */
  readonly events: readonly string[];
  /** The last calls made for it, one a line; or why they are not known. */
  readonly calls: readonly string[];
}

/** The page. */
export async function explain({ preview, service, failures, events, calls }: Explained, parts: SurveyParts, ask: Ask): Promise<string> {
  const { survey } = preview;
  const health = survey?.found ? inLines(await survey.kind.health(survey.found, survey.seen, parts.inventory, ask)) : [];
  const groups = await parts.inventory.groups.listed(reconcileAges.absentMs, ask);
  const noNodes = survey && survey.targets.instances.length === 0 ? ["There are no available nodes for LoadBalancer"] : [];
  const said = [
    ...[...preview.problems, ...preview.warnings].map(({ message }) => message),
    ...(preview.problems.length > 0 || preview.steps.length > 0 || service.hostname === "" ? failures : []),
    ...noNodes,
    ...health.filter(({ state }) => !["healthy", "InService", "initial"].includes(state)).map(({ state, why }) => `${state} ${why}`),
  ];
  const advice = adviceFor(said);
  const server = otherServer(service);
  return [
    `Service ${preview.key}`,
    ...section("Who serves it", server ? [`${server}: Fairlead makes no load balancer for it and leaves its status alone`] : []),
    ...section("What it asks for", wanted(service, survey)),
    ...section("What exists", survey ? stands(service, survey) : server ? [published(service)] : ["nothing is asked for"]),
    ...section(
      "What is wrong",
      [...preview.problems, ...preview.warnings].map(({ message }) => message),
    ),
    ...section("What would be done", preview.steps.length === 0 ? ["nothing"] : preview.steps.map(({ what, why }) => `${what}  (${why})`)),
    ...section("Subnets", survey ? subnets(survey) : []),
    ...section("Security groups", survey ? securityGroups(survey, groups, parts) : []),
    ...section(
      "Targets",
      health.map(({ id, where, state, why }) => `${id} ${where} ${state}${why ? `: ${why}` : ""}`),
    ),
    ...section("Warnings", events),
    ...section("Last calls to AWS", calls),
    ...section("What to do next", advice.length > 0 ? advice : [nextStep(preview, server)]),
    "",
  ].join("\n");
}

function wanted({ view }: SeenService, survey: Survey | undefined): string[] {
  const rows = Object.entries(view.annotations).flatMap(([key, value]) => {
    if (key === sourceRangesAnnotation) return [`${key}: ${value}  Who may reach it.`];
    const name = key.startsWith(annotationPrefix) ? key.slice(annotationPrefix.length) : "";
    const row = Object.hasOwn(annotationTable, name) ? (annotationTable as Readonly<Record<string, AnnotationRow>>)[name] : undefined;
    return row ? [`${key}: ${value}  ${row.meaning}`] : [];
  });
  if (survey === undefined) return rows;
  return [modelText(survey.desire.model), ...survey.kind.describe(survey.desire.model), ...rows];
}

function modelText(model: LoadBalancerModel): string {
  return `${model.kind} load balancer ${model.name}, ${model.internal ? "internal" : "internet-facing"}`;
}

function stands({ hostname }: SeenService, { found, other }: Survey): string[] {
  const text = (lb: Found) => `${lb.kind} load balancer ${lb.name}, ${lb.hostname}${lb.state === undefined ? "" : `, ${lb.state}`}`;
  return [
    ...(found ? [text(found)] : ["no load balancer"]),
    ...(other ? [`${text(other)} (of the kind asked for before)`] : []),
    published({ hostname }),
  ];
}

const published = ({ hostname }: Pick<SeenService, "hostname">) =>
  hostname === "" ? "no address is published" : `published address ${hostname}`;

function subnets({ desire }: Survey): string[] {
  return desire.subnets.verdicts.map(({ subnet, taken, why }) => `${taken ? "taken  " : "refused"} ${subnet.id} ${subnet.zone}: ${why}`);
}

function securityGroups(
  { desire, found, targets }: Survey,
  groups: readonly SecurityGroup[],
  { inventory, settings }: SurveyParts,
): string[] {
  const { model } = desire;
  const name = (id: string) => `${id} (${groups.find((group) => group.id === id)?.name ?? "not in this VPC"})`;
  const { ids, warnings } = nodeGroupsOf(targets.instances, groups, inventory.scope.cluster);
  return [
    ...wantedGroups(model).map((entry) =>
      entry.kind === "given"
        ? `wanted on the load balancer: ${name(entry.id)}, given`
        : `wanted on the load balancer: ${entry.group.name}, managed`,
    ),
    ...(found?.securityGroups ?? []).map((id) => `on the load balancer: ${name(id)}`),
    ...(settings.disableNodeIngress
      ? ["of the nodes: left alone (DisableSecurityGroupIngress)"]
      : ids.map((id) => `of the nodes: ${name(id)}`)),
    ...warnings,
  ];
}

const inLines = (backends: readonly BackendHealth[]) =>
  backends.flatMap(({ where, targets }) => targets.map((each) => ({ ...each, where })));

/** A class that nobody is known for may be a typo. */
function unserved(server: string): string {
  if (!server.startsWith("another controller")) return "";
  return " If none of that class runs in the cluster, no load balancer is created: create the Service again without spec.loadBalancerClass, which cannot be changed.";
}

function nextStep({ problems, steps, survey }: Preview, server: string | undefined): string {
  if (problems.length > 0) return "Fix what is wrong: until then the load balancer stays as it is.";
  if (steps.length > 0) return "Wait: the controller takes these steps by itself. If it does not, look at its log and at the Events.";
  if (server !== undefined) return `Look at the Events and the log of the controller that serves it.${unserved(server)}`;
  if (survey === undefined) return "Nothing: no load balancer is asked for here.";
  const missing = registrable(survey.targets, survey.kind.registered(survey.seen)).length === 0;
  return missing ? "Add nodes: there is nothing behind the load balancer." : "Nothing: it is as it should be.";
}
