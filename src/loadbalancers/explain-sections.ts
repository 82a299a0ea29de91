/** Parts that the pages of `explain` have in common, whatever they are about. */

import { type LoadBalancerModel, wantedGroups } from "./model.ts";
import type { SubnetVerdict } from "./subnets.ts";

/** A title with its lines; without lines there is no title either. */
export function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];
}

/** What would be done, and what it goes by. */
export function plannedSections(
  steps: readonly { readonly what: string; readonly why: string }[],
  verdicts: readonly SubnetVerdict[],
  model: Pick<LoadBalancerModel, "securityGroups"> | undefined,
  standingGroups: readonly string[],
): readonly string[] {
  return [
    ...section("What would be done", steps.length === 0 ? ["nothing"] : steps.map(({ what, why }) => `${what}  (${why})`)),
    ...section(
      "Subnets",
      verdicts.map(({ subnet, taken, why }) => `${taken ? "taken  " : "refused"} ${subnet.id} ${subnet.zone}: ${why}`),
    ),
    ...section("Security groups", [
      ...(model
        ? wantedGroups(model).map(
            (entry) => `wanted on the load balancer: ${entry.kind === "given" ? entry.id : `${entry.group.name}, managed`}`,
          )
        : []),
      ...standingGroups.map((id) => `on the load balancer: ${id}`),
    ]),
  ];
}
