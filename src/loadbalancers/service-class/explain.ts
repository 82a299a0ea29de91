/** One page about the load balancer of a Service with a class: what is wanted and why, what exists, what differs, what to do next. */

import type { Ask } from "../../aws/ask.ts";
import { plannedSections, section } from "../explain-sections.ts";
import type { Inventory } from "../inventory.ts";
import { annotationPrefix, familyTable, rowTable } from "./annotations.ts";
import type { ClassPreview } from "./preview.ts";
import { keyOf, type ServiceView } from "./view.ts";

export interface ExplainedService {
  readonly service: ServiceView;
  readonly preview: ClassPreview;
  /** Host names that the status names. */
  readonly published: readonly string[];
  /** Texts of the Warning Events that are still kept. */
  readonly events: readonly string[];
  /** The last calls made for it, one a line; or why they are not known. */
  readonly calls: readonly string[];
}

export async function explainClassService(
  { service, preview, published, events, calls }: ExplainedService,
  inventory: Inventory,
  ask: Ask,
): Promise<string> {
  const { survey, problems, warnings, steps } = preview;
  const found = survey?.seen.found;
  const health = survey && found ? await survey.seen.kind.health(found, survey.seen.seen, inventory, ask) : [];
  const targets = health.flatMap(({ where, targets: some }) => some.map((target) => ({ ...target, where })));
  const model = survey?.desire.model;
  const said = [...problems, ...warnings].map(({ message }) => message);
  return [
    `Service ${keyOf(service)}`,
    ...section("Who serves it", [serverOf(service, preview)]),
    ...section("What it asks for", [
      ...(model && problems.length === 0
        ? [`network load balancer ${model.name}, ${model.internal ? "internal" : "internet-facing"}, ${model.addressType}`]
        : []),
      ...(survey && model ? survey.seen.kind.describe(model) : []),
      ...rowsOf(service),
    ]),
    ...section("What exists", [
      found ? `network load balancer ${found.name}, ${found.hostname}, ${found.state}` : "no load balancer",
      ...(survey?.replaced.loadBalancers ?? []).map(
        ({ name, hostname }) =>
          `network load balancer ${name}, ${hostname}, of the scheme that was asked for before: it goes when clients have left it`,
      ),
      ...(published.length === 0 ? ["no address is published"] : published.map((hostname) => `published address ${hostname}`)),
    ]),
    ...section("What is wrong", said),
    ...plannedSections(steps, survey?.desire.subnets.verdicts ?? [], model, found?.securityGroups ?? []),
    ...section(
      "Targets",
      targets.map(({ id, where, state, why }) => `${id} ${where} ${state}${why ? `: ${why}` : ""}`),
    ),
    ...section("Warnings", events),
    ...section("Last calls to AWS", calls),
    ...section("What to do next", [nextStep(preview, targets)]),
    "",
  ].join("\n");
}

function serverOf({ loadBalancerClass }: ServiceView, { claim }: ClassPreview): string {
  if (claim.kind === "unclear") return "nobody";
  if (claim.kind === "not-ours") return "another controller from now on: what the load balancer controller made for it goes";
  return `the load balancer controller, by ${loadBalancerClass === undefined ? "annotation" : `loadBalancerClass ${loadBalancerClass}`}`;
}

/** What each annotation of ours means. */
function rowsOf({ annotations }: ServiceView): readonly string[] {
  return Object.entries(annotations).flatMap(([key, value]) => {
    const name = key.startsWith(annotationPrefix) ? key.slice(annotationPrefix.length) : "";
    const family = Object.entries(familyTable).find(([begin]) => name.startsWith(begin))?.[1];
    const row = Object.hasOwn(rowTable, name) ? rowTable[name as keyof typeof rowTable] : family;
    return row ? [`${key}: ${value}  ${row.meaning}`] : [];
  });
}

function nextStep({ claim, problems, steps }: ClassPreview, targets: readonly { readonly healthy: boolean }[]): string {
  if (claim.kind === "unclear") return "Set the annotation, or leave the Service to the controller manager by taking the type away.";
  if (problems.length > 0) return "Fix what is wrong: until then the load balancer stays as it is.";
  if (steps.length > 0) return "Wait: the controller takes these steps by itself. If it does not, look at its log and at the Events.";
  if (targets.length === 0) return "Look at its TargetGroupBindings: there is nothing behind the load balancer.";
  return targets.some(({ healthy }) => healthy) ? "Nothing: it is as it should be." : "Look at the health check: no target is healthy.";
}
