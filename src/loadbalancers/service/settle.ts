/** How a look at a Service that wants something ends: well, with a warning, or with what its author has to mend. */
import type { Refusal } from "../../aws/apply.ts";
import type { Step } from "../../aws/plan.ts";
import { again, done, type Outcome } from "../../runtime/controller.ts";
import type { Found } from "../kind.ts";
import type { Problem } from "../model.ts";
import { namesOf } from "../owner.ts";
import type { SeenService } from "../service-state.ts";
import { type Targets, targetWarnings } from "../targets.ts";
import type { Job, ServiceContext } from "./context.ts";
import type { Remembered } from "./memory.ts";
import { configurationCondition } from "./report.ts";

/** How soon instances that did not run are looked at again. */
const notRunningMs = 60_000;

/** What its author can mend: it is said, and nothing else is changed. */
export class Misconfigured extends Error {
  override readonly name = "Misconfigured";
}

/** What is said of nodes that are no targets. */
export const problemsOf = (targets: Targets, refused: readonly Refusal[]): readonly Problem[] =>
  targetWarnings(targets, refused).map((message) => ({ message }));

/** The end of a reconcile that went well, as soon as the nodes let the traffic in. */
export function settle(service: SeenService, remembered: Remembered, notAllRun: boolean, context: ServiceContext): Outcome {
  const { book, report } = context;
  const { uid } = service.metadata;
  const waitsFor = book.waitsFor(uid);
  const trouble = book.trouble(uid);
  if (trouble !== undefined) throw new Error(`failed to ensure load balancer: ${trouble}`);
  if (waitsFor.length > 0) return again(notRunningMs, `waits for the rules of node security groups ${waitsFor.join(", ")}`);
  if (remembered.announcing) report.event(service, "EnsuredLoadBalancer");
  remembered.announcing = false;
  return notAllRun ? again(notRunningMs, "some instances are not running yet, or AWS refuses them") : done;
}

/** A bad wish changes nothing; but what stands goes on following the nodes. */
export async function refuse(
  { service, owner, ask }: Job,
  problems: readonly Problem[],
  standing: readonly Found[],
  follow: (lb: Found) => Promise<void>,
  context: ServiceContext,
): Promise<never> {
  const { book, report } = context;
  const message = problems.map((problem) => problem.message).join("; ");
  book.unknown(owner, namesOf(owner));
  await report.condition(service, configurationCondition, { status: "False", reason: "InvalidConfiguration", message }, ask.signal);
  for (const lb of standing) await follow(lb);
  throw new Misconfigured(`failed to ensure load balancer: ${message}`);
}

/** Whatever AWS answered, it may have been carried out: what was not seen before is no witness any more. */
export function noteMade(
  { steps }: { readonly steps: readonly Step[] },
  remembered: Remembered,
  { host }: Pick<ServiceContext, "host">,
): void {
  if (steps.length === 0) return;
  remembered.madeAt = host.world.clock.monotonic();
  // Targets that AWS refuses for ever are tried at each look, and nothing comes into being by it.
  if (steps.some(({ makes }) => makes !== undefined)) delete remembered.unseenSince;
}

/** Says so once when there is no node left for it. */
export function tellAboutNodes(service: SeenService, remembered: Remembered, any: boolean, context: ServiceContext): void {
  if (!any && remembered.hadNodes) context.report.event(service, "UnAvailableLoadBalancer");
  remembered.hadNodes = any;
}

/** What is odd but can be lived with: an Event when it is news, and a condition while it is so. */
export async function warn(
  service: SeenService,
  remembered: Remembered,
  warnings: readonly Problem[],
  signal: AbortSignal,
  context: ServiceContext,
): Promise<void> {
  const { report } = context;
  const message = warnings.map((warning) => warning.message).join("; ");
  if (message !== "" && message !== remembered.warned) report.tell(service, "Warning", "LoadBalancerWarning", message);
  remembered.warned = message;
  const condition = message === "" ? undefined : ({ status: "True", reason: "Warning", message } as const);
  await report.condition(service, configurationCondition, condition, signal);
}
