/** The kind of load balancer that a Service asks for by its `type` annotation. */

import type { Found } from "../kind.ts";
import type { Problem } from "../model.ts";
import { handedOverTypes } from "../service-claim.ts";
import { annotationKey } from "./annotations.ts";
import { isServiceKind, type Kind } from "./kinds.ts";

/** Where the value says nothing to us the kind is that of what stands. */
export type WantedKind = Kind | "unknown";

/**
 * `nlb-ip` and `external` belong to another controller; `none` asks for target groups without a load balancer. Exact and
 * case-sensitive, as it always was.
 */
export function wantedKindOf(annotations: Readonly<Record<string, string>>): WantedKind | "foreign" | "targets" {
  const type = annotations[annotationKey("type")] ?? "";
  return Object.hasOwn(kinds, type) ? kinds[type]! : "unknown";
}

const kinds: Readonly<Record<string, Kind | "foreign" | "targets">> = {
  "": "classic",
  nlb: "network",
  ...Object.fromEntries(handedOverTypes.map((type) => [type, "foreign" as const])),
  none: "targets",
};

/** The kind to look at: for an unknown value that of what is published, or stands; else what the reference would make. */
export function kindAmong(wanted: WantedKind, standing: readonly Found[], hostname: string): Kind {
  if (wanted !== "unknown") return wanted;
  const kind = (standing.find((lb) => lb.hostname === hostname) ?? standing[0])?.kind ?? "";
  return isServiceKind(kind) ? kind : "classic";
}

/** What is wrong with a value that is not known; it stops nothing but the making of something new. */
export function unknownType(annotations: Readonly<Record<string, string>>, standing: Found | undefined): Problem {
  const annotation = annotationKey("type");
  const value = annotations[annotation] ?? "";
  const known = Object.keys(kinds).filter((each) => each !== "");
  const meant = known.find((each) => each === value.trim().toLowerCase());
  const what = standing ? `the ${standing.kind} load balancer that exists is kept` : "no load balancer is created for it";
  const remedy = `${meant ? `did you mean ${meant}? ` : ""}It takes ${known.join(", ")}, and is left out for a classic load balancer`;
  return { annotation, message: `annotation ${annotation}=${JSON.stringify(value)} is not known: ${what}; ${remedy}` };
}
