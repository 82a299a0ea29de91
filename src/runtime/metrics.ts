/** Metrics in a registry of the process object: two replicas in one Node process must not count into each other. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** An empty registry; the library's global one is never used. */
export function newRegistry(): Registry {
  return new Registry();
}

interface Named<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

/** The counter of this name, made at first use. */
export function counter<Label extends string = never>(registry: Registry, of: Named<Label>): Counter<Label> {
  return (
    existing<Counter<Label>>(registry, of.name) ??
    new Counter({ name: of.name, help: of.help, labelNames: of.labels ?? [], registers: [registry] })
  );
}

/** The gauge of this name, made at first use; `collect` refreshes it right before each scrape. */
export function gauge<Label extends string = never>(
  registry: Registry,
  of: Named<Label> & { readonly collect?: (gauge: Gauge<Label>) => void },
): Gauge<Label> {
  const found = existing<Gauge<Label>>(registry, of.name);
  if (found !== undefined) return found;
  const made: Gauge<Label> = new Gauge<Label>({
    name: of.name,
    help: of.help,
    labelNames: of.labels ?? [],
    registers: [registry],
    ...(of.collect === undefined ? {} : { collect: () => of.collect?.(made) }),
  });
  return made;
}

/** The histogram of this name, made at first use. */
export function histogram<Label extends string = never>(
  registry: Registry,
  of: Named<Label> & { readonly buckets: readonly number[] },
): Histogram<Label> {
  return (
    existing<Histogram<Label>>(registry, of.name) ??
    new Histogram({ name: of.name, help: of.help, labelNames: of.labels ?? [], buckets: [...of.buckets], registers: [registry] })
  );
}

function existing<M>(registry: Registry, name: string): M | undefined {
  return registry.getSingleMetric(name) as M | undefined;
}

/** `count` upper bounds, each `factor` times the one before. */
export function exponentialBuckets(start: number, factor: number, count: number): number[] {
  // Rounded to 12 digits: 0.001 × 2ⁿ must print as the same text everywhere.
  return Array.from({ length: count }, (_, n) => Number((start * factor ** n).toPrecision(12)));
}

/** What this build is, for `kubernetes_build_info` (the name that dashboards know) and `fairlead_build_info`. */
export interface BuildInfo {
  readonly version: string;
  readonly commit: string;
  readonly buildDate: string;
}

/** Exports what is running as two constant gauges. */
export function exportBuildInfo(registry: Registry, build: BuildInfo): void {
  const [major = "", minor = ""] = build.version.replace(/^v/, "").split(".");
  const platform = `${process.platform}/${process.arch}`;
  gauge(registry, {
    name: "kubernetes_build_info",
    help: "Version of the running program, constant 1, with the labels that Kubernetes components use.",
    labels: ["major", "minor", "git_version", "git_commit", "git_tree_state", "build_date", "go_version", "compiler", "platform"],
  }).set(
    {
      major,
      minor,
      git_version: build.version,
      git_commit: build.commit,
      git_tree_state: "clean",
      build_date: build.buildDate,
      go_version: "",
      compiler: `node ${process.version}`,
      platform,
    },
    1,
  );
  gauge(registry, {
    name: "fairlead_build_info",
    help: "Version of Fairlead and of the Node runtime, constant 1.",
    labels: ["version", "commit", "node_version", "platform"],
  }).set({ version: build.version, commit: build.commit, node_version: process.version, platform }, 1);
}

/** CPU, memory, file descriptors, garbage collection of the real machine. Not for simulated worlds. */
export function exportMachineMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
}
