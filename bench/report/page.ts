/** Writes `docs/benchmarks.md` and its charts from the results; words that numbers cannot say are in `notes.md`. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { referenceVersion } from "../../test/referees/reference.ts";
import { tuning } from "../bed/entrants.ts";
import type { Scenario } from "../scenarios/scenario.ts";
import { charts } from "./charts.ts";
import { judged } from "./goals.ts";
import { middle, type Results, type ScenarioResult } from "./results.ts";
import { markdown, rows } from "./table.ts";
import { type Measure, measures } from "./units.ts";

/** Writes the page into the folder `docs`. */
export async function writePage(docs: string, scenarios: readonly Scenario[], results: Results): Promise<void> {
  const drawn = charts(results);
  await mkdir(join(docs, "benchmarks"), { recursive: true });
  await Promise.all(drawn.map(({ file, text }) => writeFile(join(docs, "benchmarks", file), text)));
  const notes = await readFile(join(import.meta.dirname, "notes.md"), "utf8");
  const measured = scenarios.filter(({ name }) => results.scenarios[name]);
  const page = [
    "# Benchmarks",
    introduction(measured, results),
    "## Goals",
    markdown(
      judged(results).map(({ goal, measured, met }) => [goal, measured, met ? "yes" : "**no**"]),
      ["Goal", "Measured", "Met"],
    ),
    "## Charts",
    ...drawn.map(({ file, title }) => `![${title}](benchmarks/${file})`),
    "## Where Fairlead is behind",
    behind(measured, results),
    notes.trim(),
    "## All numbers",
    "Each row shows the run with the median time. Counts, CPU and memory include the ten seconds after the " +
      "end, so that postponed work counts. Memory is what the kernel counts as resident; a megabyte is 10⁶ bytes.",
    ...measured.flatMap((scenario) => section(scenario, results.scenarios[scenario.name]!)),
  ];
  await writeFile(join(docs, "benchmarks.md"), `${page.join("\n\n")}\n`);
}

function introduction(measured: readonly Scenario[], { machine, scenarios }: Results): string {
  const disturbed = measured.filter(({ name }) => Math.max(...(scenarios[name]?.loads ?? [])) > calmLoad);
  return [
    "<!-- Written by `npm run bench`. Do not edit. -->",
    `Fairlead compared with the reference, cloud-provider-aws ${referenceVersion} built with Go, in the same environment. ` +
      "`npm run bench` repeats all measurements except those that `--full` adds, `npm run bench <scenario>` one of them; both need Go and Linux.",
    `Machine: ${machine}.`,
    ...(disturbed.length > 0
      ? [
          busy(
            disturbed,
            disturbed.flatMap(({ name }) => scenarios[name]?.loads ?? []),
          ),
        ]
      : []),
    [
      "- The cluster is a real kube-apiserver and etcd; Nodes have the size they have on EC2 (fifty images, 15 KB of JSON). AWS is the simulated " +
        "one, in its own process: every answer takes 40 ms, and every EC2 action has a bucket of 100 calls that refills at " +
        "20 per second. All of it shares one machine with the measured program.",
      "- Each run has a new cluster and a new AWS account. Programs take turns; runs under two minutes are repeated three times, longer ones are not. A 1 in the last column is a single run.",
      "- Fairlead runs as shipped (the bundle, on Node with a small young generation) at its default flags. The reference is tuned as " +
        `operators of large clusters do: \`${tuning.join(" ")}\`. At its defaults it is measured once, at 1,000 nodes.`,
      "- Memory, CPU: `/proc`. Kubernetes writes: the API server's audit log. AWS calls: what the simulated AWS received. Event-loop " +
        "delay: Fairlead's own metric; the reference has no event loop.",
    ].join("\n"),
  ].join("\n\n");
}

/** What a machine comes to by the run before alone. */
const calmLoad = 3;

function busy(disturbed: readonly Scenario[], loads: readonly number[]): string {
  const of = (pick: (...numbers: number[]) => number) => pick(...loads).toFixed(1);
  return (
    `**The machine was busy with other work during these runs**: ${disturbed.map(({ title }) => title).join("; ")} (load ${of(Math.min)} to ${of(Math.max)}): times and CPU are too high for ` +
    "both and differ between runs; calls, writes and memory hardly depend on it."
  );
}

/** Every figure in which the reference is ahead by a twentieth or more. */
function behind(scenarios: readonly Scenario[], results: Results): string {
  const compared: readonly Measure[] = Object.values(measures);
  const lines = scenarios.flatMap(({ name, title }) => {
    const { fairlead = {}, reference = {} } = results.scenarios[name]!.entrants;
    return Object.entries(fairlead).flatMap(([step, runs]) => {
      const others = reference[step];
      if (others === undefined) return [];
      const worse = compared.flatMap(({ title: what, of, text, noise }) => {
        const [ours, theirs] = [of(middle(runs)), of(middle(others))];
        if (ours === undefined || theirs === undefined || ours <= theirs * 1.05 || ours - theirs < noise) return [];
        return [`${what} ${text(ours)} against ${text(theirs)}`];
      });
      return worse.length === 0 ? [] : [`- ${title}, ${step}: ${worse.join("; ")}.`];
    });
  });
  return lines.length === 0 ? "In nothing that is measured here." : lines.join("\n");
}

function section({ name, title, about }: Scenario, result: ScenarioResult): readonly string[] {
  const { date, commit, node, loads, entrants } = result;
  const actions = Object.entries(entrants).flatMap(([entrant, steps]) =>
    Object.entries(steps).flatMap(([step, runs]) => {
      const { calls = {}, writes = {} } = middle(runs);
      const counted = [...Object.entries(calls), ...Object.entries(writes)].map(([what, count]) => `${what} ${count}`);
      return counted.length === 0 ? [] : [`- ${entrant}, ${step}: ${counted.join(", ")}`];
    }),
  );
  const loaded = loads.map((load) => load.toFixed(1)).join(", ");
  return [
    `### ${title}`,
    `\`npm run bench ${name}\`. ${about}`,
    markdown(rows(result)),
    `${date.slice(0, 10)}, commit ${commit.slice(0, 12)}, Node ${node}; load of the machine before each run: ${loaded}.`,
    ...(actions.length === 0 ? [] : [["<details><summary>Calls and writes by name</summary>", ...actions, "</details>"].join("\n\n")]),
  ];
}
