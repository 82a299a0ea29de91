/** What programs on virtual time serve at /metrics, recorded as Prometheus would scrape it, and judged by Prometheus's own engine. */
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Registry } from "prom-client";
import { stringify } from "yaml";
import { promtool } from "../../deploy/build/debian.ts";

/** How often is scraped. */
export const scrapeMs = 30_000;

/** Samples by series, as rule tests of Prometheus take them: a gap is a scrape in which the series was not there. */
export type Recording = ReadonlyMap<string, readonly (number | undefined)[]>;

/** Scrapes a process. */
export class Scraper {
  readonly #series = new Map<string, (number | undefined)[]>();
  readonly #startMs: number;
  #scrapes = 0;

  /** Prometheus's rule tests begin at the epoch: points in time are told relative to the start. */
  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /** One scrape; of a process that is gone, nothing. */
  async scrape(registry: Registry | undefined): Promise<void> {
    for (const { name, values } of (await registry?.getMetricsAsJSON()) ?? []) {
      for (const { value, labels, metricName } of values as readonly Sample[]) this.#note(metricName ?? name, labels, value);
    }
    this.#scrapes++;
  }

  recording(): Recording {
    return new Map([...this.#series].map(([name, values]) => [name, Array.from({ length: this.#scrapes }, (_, i) => values[i])]));
  }

  #note(name: string, labels: Sample["labels"], value: number): void {
    const key = seriesName(name, { job: "fairlead", instance: "10.0.0.1:10258", ...labels });
    const values = this.#series.get(key) ?? [];
    values[this.#scrapes] = /_since_seconds$/.test(name) && value > 0 ? value - this.#startMs / 1000 : value;
    this.#series.set(key, values);
  }
}

interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

/** `name{label="value"}` */
export function seriesName(name: string, labels: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(String(value))}`);
  return `${name}{${pairs.join(",")}}`;
}

/** The alerts of a rule file that fire at some time while these samples come in, judged by promtool. */
export async function firingAlerts(ruleFile: string, alerts: readonly string[], recording: Recording): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-rules-"));
  try {
    await copyFile(ruleFile, join(folder, "rules.yaml"));
    const seconds = Math.max(...[...recording.values()].map((values) => values.length)) * (scrapeMs / 1000);
    const input = [...recording].map(([series, values]) => ({ series, values: values.map((value) => value ?? "_").join(" ") }));
    const fires = (alert: string) => `max_over_time(ALERTS{alertname="${alert}",alertstate="firing"}[${seconds}s])`;
    const last = `${seconds - scrapeMs / 1000}s`;
    const test = {
      interval: `${scrapeMs / 1000}s`,
      input_series: input,
      // Each fails when the alert fires, and is then named in what promtool prints.
      promql_expr_test: alerts.map((alert) => ({ expr: `group(${fires(alert)})`, eval_time: last, exp_samples: [] })),
    };
    const file = join(folder, "test.yaml");
    await writeFile(file, stringify({ rule_files: ["rules.yaml"], evaluation_interval: test.interval, tests: [test] }));
    const { printed, failed } = await check(await promtool(), ["test", "rules", file]);
    const firing = alerts.filter((alert) =>
      new RegExp(`alertname=\\\\?"${alert}\\\\?"[^\\n]*\\n[^\\n]*\\n\\s*got:\\s*"?\\{\\} 1`).test(printed),
    );
    if (failed !== firing.length > 0) throw new Error(`promtool: ${printed}`);
    return firing;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function check(program: string, args: readonly string[]): Promise<{ readonly printed: string; readonly failed: boolean }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, { maxBuffer: 64 * 1024 * 1024 });
    return { printed: stdout + stderr, failed: false };
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    return { printed: stdout + stderr, failed: true };
  }
}
