/** What a process says of itself, to who may ask: its latest calls to AWS, and what it is doing. */
import type { BudgetView } from "../aws/caller.ts";
import type { Cloud } from "../aws/cloud.ts";
import type { CallRecord } from "../aws/ledger.ts";
import type { Controllers, Progress } from "../runtime/controllers.ts";
import { isOpen } from "../runtime/gate.ts";
import type { RecentLine, RecentLines } from "../runtime/recent-lines.ts";
import { json, type Route } from "../runtime/routes.ts";
import type { Clock } from "../runtime/world.ts";
import type { Leadership } from "./leadership.ts";

export interface Now {
  readonly component: string;
  /** As in the Lease. */
  readonly identity: string;
  readonly leads: boolean;
  /** Its clock, in milliseconds since the epoch. */
  readonly at: number;
  readonly controllers: readonly Progress[];
  /** Of the actions that were called so far. */
  readonly budgets: readonly BudgetView[];
  /** What it did and why, and what went wrong; the newest last. */
  readonly lines: readonly RecentLine[];
  /** Its latest calls to AWS; the newest last. */
  readonly calls: readonly CallRecord[];
}

interface Telling {
  readonly component: string;
  readonly clock: Clock;
  readonly leadership: Leadership;
  readonly controllers: Controllers;
  readonly cloud: Cloud;
  readonly lines: RecentLines;
}

export function debugRoutes({ component, clock, leadership, controllers, cloud, lines }: Telling): readonly Route[] {
  const now = (): Now => ({
    component,
    identity: leadership.identity,
    leads: isOpen(leadership.held),
    at: clock.now(),
    controllers: controllers.progress(),
    budgets: cloud.budgets(),
    lines: lines.latest(),
    calls: cloud.ledger.latest,
  });
  return [
    { path: "/debug/fairlead/calls", answer: () => json(200, { calls: cloud.ledger.latest }) },
    { path: "/debug/fairlead/now", answer: () => json(200, now()) },
  ];
}
