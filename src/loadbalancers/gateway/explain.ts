/** One page about the load balancer of a Gateway: what is asked for and why, what stands, what differs, and what to do next. */

import type { Ask } from "../../aws/ask.ts";
import { plannedSections, section } from "../explain-sections.ts";
import type { Inventory } from "../inventory.ts";
import type { BackendHealth } from "../kind.ts";
import type { GatewayPreview } from "./preview.ts";
import { usersText } from "./sharing.ts";
import { keyOf, routeKeyOf } from "./view.ts";

export interface ExplainedGateway {
  readonly preview: GatewayPreview;
  readonly controllerName: string;
  /** Texts of the Warning Events that are still kept. */
  readonly events: readonly string[];
}

export async function explainGateway(
  { preview, controllerName, events }: ExplainedGateway,
  inventory: Inventory,
  ask: Ask,
): Promise<string> {
  const { gateway, survey, loaded, problems, faults, warnings, steps } = preview;
  const found = survey?.seen.found;
  const health = survey && found ? await survey.seen.kind.health(found, survey.seen.seen, inventory, ask) : [];
  const model = survey?.desire.model;
  const published = gateway.status.addresses.map(({ value }) => `published address ${value}`);
  return [
    `Gateway ${keyOf(gateway.view)}`,
    ...section("Who serves it", [`the load balancer controller, as ${controllerName}, by class ${gateway.view.className}`]),
    ...section("Its routes", loaded ? routesOf(loaded) : []),
    ...section("What is asked for", [
      ...(model && problems.length === 0
        ? [`${model.kind} load balancer ${model.name}, ${model.internal ? "internal" : "internet-facing"}, ${model.addressType}`]
        : []),
      ...(survey && model ? survey.seen.kind.describe(model) : []),
      ...[...(survey?.desire.sharedBy ?? [])].map(([name, routes]) => `target group ${name} is ${usersText(routes)}`),
    ]),
    ...section("What exists", [
      found ? `load balancer ${found.name}, ${found.hostname}, ${found.state}` : "no load balancer",
      ...(survey?.replaced.loadBalancers ?? []).map(
        ({ name }) => `load balancer ${name}, of the scheme that was asked for before: it goes`,
      ),
      ...(published.length > 0 ? published : ["no address is published"]),
    ]),
    ...section("What is wrong", [...problems, ...[...faults].flatMap(([key, all]) => all.map((text) => `${key}: ${text}`)), ...warnings]),
    ...plannedSections(steps, survey?.desire.subnets.verdicts ?? [], model, found?.securityGroups ?? []),
    ...section("Targets", targetsOf(health)),
    ...section("Warnings", events),
    ...section("What to do next", [nextStep(preview, health)]),
    "",
  ].join("\n");
}

function routesOf({ wish: { attachment } }: NonNullable<GatewayPreview["loaded"]>): readonly string[] {
  const served = [...attachment.byPort].flatMap(([port, routes]) =>
    routes.map(
      ({ route, hostnames }) => `${routeKeyOf(route)} on port ${port}, for ${hostnames.map((name) => name || "every name").join(", ")}`,
    ),
  );
  const refused = attachment.refs.flatMap(({ route, failure }) =>
    failure ? [`${routeKeyOf(route)} is not attached: ${failure.message}`] : [],
  );
  return served.length + refused.length === 0 ? ["none: no port is listened on"] : [...served, ...refused];
}

const targetsOf = (health: readonly BackendHealth[]) =>
  health.flatMap(({ where, targets }) => targets.map(({ id, state, why }) => `${id} ${where} ${state}${why ? `: ${why}` : ""}`));

function nextStep({ problems, faults, steps }: GatewayPreview, health: readonly BackendHealth[]): string {
  if (problems.length > 0) return "Fix what is wrong: until then the load balancer stays as it is.";
  if (faults.size > 0) return "Fix what is wrong with these: everybody else is served.";
  if (steps.length > 0) return "Wait: the controller takes these steps by itself. If it does not, look at its log and at the Events.";
  const targets = health.flatMap(({ targets: some }) => some);
  if (targets.length === 0) return "Look at its routes and TargetGroupBindings: there is nothing behind the load balancer.";
  return targets.some(({ healthy }) => healthy) ? "Nothing: it is as it should be." : "Look at the health checks: no target is healthy.";
}
