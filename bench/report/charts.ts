/** The charts of the page. */
import { type EntrantName, entrantTitles } from "../bed/entrants.ts";
import { middle, type Results } from "./results.ts";
import { type Chart, svg } from "./svg.ts";
import { type Measure, measures } from "./units.ts";

const colours: Readonly<Record<EntrantName, string>> = {
  fairlead: "#2f7ed8",
  reference: "#c7761a",
  "reference-defaults": "#9a9a9a",
};

interface Plan {
  readonly file: string;
  readonly title: string;
  readonly measure: Measure;
  /** Scenario, step, and how the pair is called. */
  readonly groups: readonly (readonly [scenario: string, step: string, title: string])[];
}

const nodeGroups = [
  ["nodes-1000", "initialise", "1,000, provider IDs"],
  ["nodes-1000-unthrottled", "initialise", "1,000, provider IDs, unthrottled"],
  ["nodes-1000-by-name", "initialise", "1,000, by name"],
  ["nodes-1000-by-name-unthrottled", "initialise", "1,000, by name, unthrottled"],
  ["nodes-5000", "initialise", "5,000, provider IDs"],
] as const;

const restartGroups = [
  ["nodes-1000", "restart", "1,000 nodes"],
  ["nodes-5000", "restart", "5,000 nodes"],
  ["services", "restart", "100 Services"],
  ["routes", "restart", "900 routes"],
] as const;

const serviceGroups = ["create", "change", "join", "leave", "delete"].map((step) => ["services", step, step] as const);

const memoryGroups = [
  ["nodes-1000", "initialise", "1,000 nodes"],
  ["nodes-5000", "initialise", "5,000 nodes"],
  ["steady-state", "stay", "5,000 nodes, steady"],
  ["services", "create", "100 Services"],
  ["routes", "create", "900 routes"],
] as const;

const plans: readonly Plan[] = [
  { file: "nodes-time", title: "Time until all nodes are initialised", measure: measures.time, groups: nodeGroups },
  { file: "nodes-calls", title: "AWS calls to initialise all nodes", measure: measures.calls, groups: nodeGroups },
  { file: "restart-calls", title: "AWS calls of a restart", measure: measures.calls, groups: restartGroups },
  { file: "services-time", title: "100 load balancers: time", measure: measures.time, groups: serviceGroups },
  { file: "services-calls", title: "100 load balancers: AWS calls", measure: measures.calls, groups: serviceGroups },
  { file: "memory", title: "Peak memory", measure: measures.peak, groups: memoryGroups },
  { file: "cpu", title: "CPU", measure: measures.cpu, groups: memoryGroups },
  {
    file: "starts",
    title: "Starts",
    measure: measures.time,
    groups: [
      ["process-start", "ready", "controller manager ready"],
      ["process-start", "leading", "controller manager leading"],
      ["cold-starts", "over TLS", "credential provider, TLS"],
      ["cold-starts", "over plain HTTP", "credential provider, HTTP"],
    ],
  },
];

/** Every chart for which there are results. */
export function charts(results: Results): readonly { readonly file: string; readonly title: string; readonly text: string }[] {
  return plans.flatMap((plan) => {
    const chart = chartOf(plan, results);
    return chart.groups.length === 0 ? [] : [{ file: `${plan.file}.svg`, title: plan.title, text: svg(chart) }];
  });
}

function chartOf({ title, measure, groups }: Plan, { scenarios }: Results): Chart {
  const valueFor = (scenario: string, step: string, name: EntrantName) => {
    const runs = scenarios[scenario]?.entrants[name]?.[step];
    return runs && measure.of(middle(runs));
  };
  const names = (Object.keys(entrantTitles) as EntrantName[]).filter((name) =>
    groups.some(([scenario, step]) => valueFor(scenario, step, name) !== undefined),
  );
  return {
    title,
    series: names.map((name) => ({ title: entrantTitles[name], colour: colours[name] })),
    groups: groups
      .map(([scenario, step, called]) => ({ title: called, values: names.map((name) => valueFor(scenario, step, name)) }))
      .filter(({ values }) => values.some((value) => value !== undefined)),
    text: measure.text,
  };
}
