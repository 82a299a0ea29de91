/** The columns of every table and the axes of every chart: what is measured, and how it is written. */
import { type Figures, total } from "../bed/figures.ts";

/** One thing that is measured. Less is better, always. */
export interface Measure {
  readonly title: string;
  of(figures: Figures): number | undefined;
  text(value: number): string;
  /** A difference smaller than this is none, whatever its share. */
  readonly noise: number;
}

export const measures = {
  time: { title: "Time", of: ({ seconds }) => seconds, text: duration, noise: 0.0005 },
  calls: { title: "AWS calls", of: ({ calls }) => total(calls), text: whole, noise: 1 },
  throttled: { title: "Throttled", of: ({ throttled }) => throttled, text: whole, noise: 1 },
  writes: { title: "Kubernetes writes", of: ({ writes }) => total(writes), text: whole, noise: 1 },
  cpu: { title: "CPU", of: ({ cpuSeconds }) => cpuSeconds, text: duration, noise: 0.0005 },
  peak: { title: "Peak memory", of: ({ peakMb }) => peakMb, text: megabytes, noise: 2 },
  settled: { title: "Settled memory", of: ({ settledMb }) => settledMb, text: megabytes, noise: 2 },
  delay: { title: "Longest event-loop delay", of: ({ longestDelayMs }) => longestDelayMs, text: (ms) => `${ms.toFixed(0)} ms`, noise: 1 },
} as const satisfies Readonly<Record<string, Measure>>;

function duration(seconds: number): string {
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.1 ? 1 : 0)} ms`;
  return `${seconds.toFixed(seconds < 100 ? 1 : 0)} s`;
}

function whole(value: number): string {
  return value.toLocaleString("en");
}

function megabytes(value: number): string {
  return `${value.toFixed(0)} MB`;
}
