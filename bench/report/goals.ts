/** What we set out to reach, and whether the numbers say so. */
import type { EntrantName } from "../bed/entrants.ts";
import { type Figures, total } from "../bed/figures.ts";
import { middle, type Results } from "./results.ts";

/** A goal beside what was measured. */
export interface GoalResult {
  readonly goal: string;
  readonly measured: string;
  readonly met: boolean;
}

interface Pair {
  readonly ours: Figures;
  readonly theirs: Figures;
}

interface Goal {
  readonly goal: string;
  readonly scenario: string;
  readonly step: string;
  judge(pair: Pair): Omit<GoalResult, "goal">;
}

const times = (factor: number) => `${factor.toFixed(1)} times`;
const calls = ({ calls: counts }: Figures) => total(counts) ?? 0;

/** Ours at most this share of theirs. */
function atMost(share: number, what: (figures: Figures) => number, unit: string): Goal["judge"] {
  return ({ ours, theirs }) => {
    const [mine, other] = [what(ours), what(theirs)];
    return { measured: `${mine.toFixed(0)} against ${other.toFixed(0)}${unit} (${percent(mine / other)})`, met: mine <= share * other };
  };
}

function faster(factor: number): Goal["judge"] {
  return ({ ours, theirs }) => {
    const rate = theirs.seconds / ours.seconds;
    return { measured: times(rate), met: rate >= factor };
  };
}

const initialising = [
  ["nodes-1000", "1,000 nodes with provider IDs"],
  ["nodes-1000-by-name", "1,000 nodes without provider IDs"],
  ["nodes-5000", "5,000 nodes with provider IDs"],
] as const;

function ingressGoals(scenario: string, title: string): readonly Goal[] {
  return [
    { goal: `${title}: created with half of the reference's calls`, scenario, step: "create", judge: atMost(1 / 2, calls, " calls") },
    {
      goal: `${title}: found again at a restart with a tenth of its calls`,
      scenario,
      step: "restart",
      judge: atMost(1 / 10, calls, " calls"),
    },
  ];
}

const goals: readonly Goal[] = [
  ...initialising.flatMap(([scenario, title]): Goal[] => [
    { goal: `${title}: initialised at 3 times the tuned reference's rate`, scenario, step: "initialise", judge: faster(3) },
    { goal: `${title}: with a third of its calls`, scenario, step: "initialise", judge: atMost(1 / 3, calls, " calls") },
  ]),
  {
    goal: "Peak memory at 5,000 nodes of real size half the reference's",
    scenario: "nodes-5000",
    step: "initialise",
    judge: atMost(1 / 2, ({ peakMb = 0 }) => peakMb, " MB"),
  },
  {
    goal: "The event loop never blocked for 100 ms while 5,000 nodes are initialised",
    scenario: "nodes-5000",
    step: "initialise",
    judge: ({ ours: { longestDelayMs = Number.NaN } }) => ({ measured: `${longestDelayMs.toFixed(0)} ms`, met: longestDelayMs < 100 }),
  },
  {
    goal: "Restart with 100 Services with a fifth of the reference's calls",
    scenario: "services",
    step: "restart",
    judge: atMost(1 / 5, calls, " calls"),
  },
  {
    goal: "A node joins 100 load balancers with half the calls",
    scenario: "services",
    step: "join",
    judge: atMost(1 / 2, calls, " calls"),
  },
  {
    goal: "200 Services created at once, at the reference's rate or above",
    scenario: "services-200",
    step: "create",
    judge: ({ ours, theirs }) => {
      const rate = ({ seconds }: Figures) => 200 / seconds;
      return { measured: `${rate(ours).toFixed(1)} against ${rate(theirs).toFixed(1)} per second`, met: rate(ours) >= rate(theirs) };
    },
  },
  ...ingressGoals("ingresses", "40 Ingresses"),
  ...ingressGoals("ingresses-900", "900 Ingresses"),
  {
    goal: "200 Services with a class and 500 bindings: found again at a restart with a tenth of the reference's calls",
    scenario: "class-services",
    step: "restart",
    judge: atMost(1 / 10, calls, " calls"),
  },
  {
    goal: "50 target groups of 990 pods filled with less memory than the reference",
    scenario: "target-groups",
    step: "fill",
    judge: atMost(1, ({ peakMb = 0 }) => peakMb, " MB"),
  },
  {
    goal: "Peak memory while 900 Ingresses are created below the reference's",
    scenario: "ingresses-900",
    step: "create",
    judge: atMost(1, ({ peakMb = 0 }) => peakMb, " MB"),
  },
  {
    goal: "The credential provider's median start no slower",
    scenario: "cold-starts",
    step: "over TLS",
    judge: ({ ours, theirs }) => ({
      measured: `${(ours.seconds * 1000).toFixed(1)} ms against ${(theirs.seconds * 1000).toFixed(1)} ms over TLS`,
      met: ours.seconds <= theirs.seconds,
    }),
  },
  {
    goal: "The process ready within 1.5 s",
    scenario: "process-start",
    step: "ready",
    judge: ({ ours }) => ({ measured: `${ours.seconds.toFixed(2)} s`, met: ours.seconds <= 1.5 }),
  },
];

/** Every goal for which there are results. */
export function judged({ scenarios }: Results): readonly GoalResult[] {
  return goals.flatMap(({ goal, scenario, step, judge }) => {
    const figures = (name: EntrantName) => scenarios[scenario]?.entrants[name]?.[step];
    const [ours, theirs] = [figures("fairlead"), figures("reference")];
    return ours && theirs ? [{ goal, ...judge({ ours: middle(ours), theirs: middle(theirs) }) }] : [];
  });
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
