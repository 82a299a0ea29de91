/** What the kernel knows of a process, and of the machine. */
import { readFile, writeFile } from "node:fs/promises";
import { cpus, loadavg, release, totalmem } from "node:os";

/** Seconds of CPU so far. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // In ticks of 1/100 s on every Linux that has not been built otherwise.
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Megabytes (10⁶ bytes) of memory: now, and the most since it was last forgotten. */
export async function memory(pid: number): Promise<{ readonly nowMb: number; readonly peakMb: number }> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const of = (name: string) => (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024) / 1e6;
  return { nowMb: of("VmRSS"), peakMb: of("VmHWM") };
}

/** Megabytes (10⁶ bytes): resident, and of those what is not a page of a file, which the kernel could drop or share. */
export async function memoryOf(pid: number): Promise<{ readonly residentMb: number; readonly ownMb: number }> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
  const of = (name: string) => (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0) * 1024) / 1e6;
  return { residentMb: Math.round(of("Rss")), ownMb: Math.round(of("Anonymous")) };
}

/** Lets the peak begin anew at what the process has now. */
export async function forgetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, "5");
}

/** The mean length of the run queue over the last minute. */
export function load(): number {
  return loadavg()[0]!;
}

/** The machine in one line. */
export function machineName(): string {
  const processors = cpus();
  return `${processors.length} × ${processors[0]?.model.trim() ?? "unknown"}, ${(totalmem() / 2 ** 30).toFixed(0)} GB, Linux ${release().split("-")[0]}`;
}
