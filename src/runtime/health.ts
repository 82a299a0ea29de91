/** Health as probes ask for it: named checks, and the text that answers them. */

import type { Gauge, Registry } from "prom-client";
import type { Host } from "./host.ts";
import { messageOf } from "./message-of.ts";
import { counter, gauge, newRegistry } from "./metrics.ts";

/**
 * The three questions a probe may ask. `healthz` and `livez`: should this process be started anew? `readyz`: does it
 * do its work?
 */
export type Probe = "healthz" | "livez" | "readyz";

export interface HealthCheck {
  readonly name: string;
  /** The probes it counts for; all of them when left out. */
  readonly probes?: readonly Probe[];
  /** What is wrong, or undefined. Must answer at once. */
  problem(): string | undefined;
}

export interface HealthAnswer {
  readonly healthy: boolean;
  readonly text: string;
}

export interface HealthQuestion {
  readonly verbose: boolean;
  readonly exclude: readonly string[];
}

/** The checks of one process. Checks may come and go while it runs. */
export class HealthChecks {
  /** Results as `kubernetes_healthcheck*`, for `/metrics/slis`. */
  readonly slis: Registry = newRegistry();
  readonly #host: Host;
  readonly #checks = new Map<string, HealthCheck>();
  readonly #failing = new Set<string>();
  readonly #latest: Gauge<"name" | "type">;

  constructor(host: Host) {
    this.#host = host;
    this.#latest = gauge(this.slis, {
      name: "kubernetes_healthcheck",
      help: "This metric records the result of a single healthcheck.",
      labels: ["name", "type"],
    });
  }

  /** Adds a check; one of the same name is replaced. */
  add(check: HealthCheck): void {
    this.#checks.set(check.name, check);
  }

  /** Answers a probe in the reference's words. Reasons are for the log only: the answer is open to anybody. */
  answer(probe: Probe, { verbose, exclude }: HealthQuestion): HealthAnswer {
    const checks = this.#of(probe);
    const lines: string[] = [];
    let healthy = true;
    for (const check of checks) {
      if (exclude.includes(check.name)) {
        lines.push(`[+]${check.name} excluded: ok`);
      } else if (this.#passes(probe, check)) {
        lines.push(`[+]${check.name} ok`);
      } else {
        healthy = false;
        lines.push(`[-]${check.name} failed: reason withheld`);
      }
    }
    const unknown = exclude.filter((name) => !checks.some((check) => check.name === name));
    if (unknown.length > 0) {
      lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => JSON.stringify(name)).join(", ")}`);
    }
    lines.push(`${probe} check ${healthy ? "passed" : "failed"}`);
    return { healthy, text: healthy && !verbose ? "ok" : `${lines.join("\n")}\n` };
  }

  #of(probe: Probe): readonly HealthCheck[] {
    const checks = [...this.#checks.values()].filter((check) => check.probes === undefined || check.probes.includes(probe));
    return checks.length > 0 ? checks : [ping];
  }

  #passes(probe: Probe, check: HealthCheck): boolean {
    const problem = problemOf(check);
    const passed = problem === undefined;
    this.#latest.set({ name: check.name, type: probe }, passed ? 1 : 0);
    counter(this.slis, {
      name: "kubernetes_healthchecks_total",
      help: "This metric records the results of all healthcheck.",
      labels: ["name", "type", "status"],
    }).inc({ name: check.name, type: probe, status: passed ? "success" : "error" });
    this.#logChange(probe, check.name, problem);
    return passed;
  }

  /** Probes come every few seconds: only the change is news. */
  #logChange(probe: Probe, name: string, problem: string | undefined): void {
    const key = `${probe}/${name}`;
    if (problem !== undefined && !this.#failing.has(key)) {
      this.#failing.add(key);
      this.#host.log.warn("health check fails", { probe, check: name, problem });
    } else if (problem === undefined && this.#failing.delete(key)) {
      this.#host.log.info("health check passes again", { probe, check: name });
    }
  }
}

/** The process answers, which is all there is to say while nothing else is checked. */
const ping: HealthCheck = { name: "ping", problem: () => undefined };

/** A check that throws has found something, at least about itself. */
function problemOf(check: HealthCheck): string | undefined {
  try {
    return check.problem();
  } catch (error) {
    return messageOf(error);
  }
}
