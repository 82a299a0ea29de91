/** What the doctor says. */

export type Level = "ok" | "warning" | "problem";

export interface Finding {
  /** Which check it comes from. */
  readonly check: CheckName;
  readonly level: Level;
  readonly what: string;
  /** A command that fixes it, or the nearest to one. */
  readonly remedy?: string;
}

/** The checks in the order they are shown. */
export const checkNames = [
  "configuration",
  "credentials",
  "clock",
  "permissions",
  "cluster id",
  "instances",
  "subnets",
  "security groups",
  "route tables",
  "metadata service",
  "api server",
  "access",
  "lease",
  "control plane",
  "controllers",
  "ingress",
  "gateways",
  "load balancer controller",
  "kubelets",
  "provider ids",
  "queue",
  "event rules",
  "lifecycle hooks",
  "managed tag",
  "volumes",
  "discovery",
] as const;

export type CheckName = (typeof checkNames)[number];

export function ok(check: CheckName, what: string): Finding {
  return { check, level: "ok", what };
}

export function warning(check: CheckName, what: string, remedy: string): Finding {
  return { check, level: "warning", what, remedy };
}

export function problem(check: CheckName, what: string, remedy: string): Finding {
  return { check, level: "problem", what, remedy };
}

/** `a, b and 3 more` */
export function some(names: readonly string[], most = 5): string {
  return names.length <= most ? names.join(", ") : `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
}
