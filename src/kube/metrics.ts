import type { CounterConfiguration, GaugeConfiguration, HistogramConfiguration, Registry } from "prom-client";
import { Counter, Gauge, Histogram } from "prom-client";

/** The counter of this name in the registry, made at first use: several clients and informers share one family. */
export function counter<L extends string>(registry: Registry, options: Omit<CounterConfiguration<L>, "registers">): Counter<L> {
  const existing = registry.getSingleMetric(options.name) as Counter<L> | undefined;
  return existing ?? new Counter({ ...options, registers: [registry] });
}

/** The same for a gauge. */
export function gauge<L extends string>(registry: Registry, options: Omit<GaugeConfiguration<L>, "registers">): Gauge<L> {
  const existing = registry.getSingleMetric(options.name) as Gauge<L> | undefined;
  return existing ?? new Gauge({ ...options, registers: [registry] });
}

/** The same for a histogram. */
export function histogram<L extends string>(registry: Registry, options: Omit<HistogramConfiguration<L>, "registers">): Histogram<L> {
  const existing = registry.getSingleMetric(options.name) as Histogram<L> | undefined;
  return existing ?? new Histogram({ ...options, registers: [registry] });
}
