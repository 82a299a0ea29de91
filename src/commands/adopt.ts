/** `fairlead adopt service/NAME`: from the controller manager's load balancer to the load balancer controller's, planned first. */
import { isApiError } from "../kube/errors.ts";
import { targetGroupBindings } from "../loadbalancers/targets/binding.ts";
import { exitStatus } from "../process/exit.ts";
import { FlagError, type FlagSection, flag, parseFlags } from "../runtime/flags.ts";
import { bool, oneOf } from "../runtime/flags-kinds.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import { dryRunGate, openGate } from "../runtime/gate.ts";
import { besideOf, planBeside } from "./adopt-beside.ts";
import { planInPlace } from "./adopt-in-place.ts";
import type { AdoptionPlan } from "./adopt-plan.ts";
import type { Command, Console } from "./command.ts";
import { failure } from "./failure.ts";
import { type Live, liveFlags, type Network, NotPossible, openLive, serviceNamed } from "./live.ts";
import { painter, stepLines } from "./plan-text.ts";

const flags = {
  yes: flag(bool, false, "Carry the plan out. Without, it is only printed."),
  finish: flag(
    bool,
    false,
    "Where a second Service was made: let the first one go, which deletes the old load balancer. For when clients have left it.",
  ),
  "target-type": flag(oneOf("instance", "ip"), "instance", "What a load balancer that is made anew registers: instance or ip."),
  ...liveFlags,
};

const usage = `Moves a Service from the load balancer of the controller manager to one of the load balancer controller, which must be running.

A network load balancer stays where it is, and keeps its address: its marks change hands. AWS makes no network load balancer out of a
classic one, so in its place a second Service with the load balancer class is made, then names are moved to its address, and when
clients have left the old one it is let go with --finish. Every run plans the next of these steps; nothing is done without --yes.

Usage:
  fairlead adopt service/NAME [--yes]
  fairlead adopt service/NAME --finish [--yes]

Exit status: 0 when there is nothing to do or all of it is done, 2 when something would be done, 1 when it is not possible.`;

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "Adopt", flags }];

/** Runs the command on this machine's sockets. */
export const run: Command = (invocation) => adopt(invocation);

/** Runs the command where the network says. */
export async function adopt({ argv, world, console, stopSignal }: Parameters<Command>[0], network: Network = {}): Promise<number> {
  try {
    const { values, args } = parseFlags(flags, argv);
    if (values.help) {
      console.out(`${usage}\n\n${flagUsage(sections, console.columns)}`);
      return exitStatus.done;
    }
    const [word, ...more] = args;
    if (word === undefined || more.length > 0) throw new FlagError("name one Service: fairlead adopt service/NAME");
    const gate = values.yes ? openGate() : dryRunGate(() => {});
    const live = await openLive(values, world, "fairlead adopt", stopSignal(), network, gate);
    try {
      for (const note of live.notes) console.err(`fairlead adopt: ${note}\n`);
      await checkDefinition(live);
      const stored = storedService(word, live);
      const beside = besideOf(stored, live);
      const targetType = values["target-type"];
      const plan =
        values.finish || beside !== undefined
          ? await planBeside(stored, beside, { targetType, finish: values.finish, internal: false }, live, world.clock)
          : await planFirst(stored, targetType, live, world.clock);
      tell(plan, console);
      if (plan.steps.length === 0) return plan.problems.length > 0 ? exitStatus.failed : exitStatus.done;
      if (!values.yes) {
        console.out("Nothing was done. Give --yes to carry this out.\n");
        return exitStatus.changes;
      }
      for (const { what, carryOut } of plan.steps) {
        await carryOut();
        console.out(`done: ${what}\n`);
      }
      console.out(`${plan.next}\n`);
      return exitStatus.done;
    } finally {
      await live.close();
    }
  } catch (error) {
    return failure("adopt", error, console);
  }
}

/** What has not begun: in place where AWS allows it. */
async function planFirst(stored: StoredService, targetType: "instance" | "ip", live: Live, clock: Clock): Promise<AdoptionPlan> {
  const first = await planInPlace(stored, live, clock);
  if ("steps" in first) return first;
  return planBeside(stored, undefined, { targetType, finish: false, internal: first.internal }, live, clock);
}

type StoredService = Live["stored"][number];
type Clock = Parameters<typeof planInPlace>[2];

function storedService(word: string, live: Live): StoredService {
  const { namespace, name } = serviceNamed(word, live.namespace);
  const found = live.stored.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  if (found === undefined) throw new NotPossible(`there is no Service ${namespace}/${name}`);
  return found;
}

/** Without it nobody would serve the Service afterwards. */
async function checkDefinition({ kube, ask }: Live): Promise<void> {
  try {
    await kube.list(targetGroupBindings, { limit: 1, signal: ask.signal });
  } catch (error) {
    if (!isApiError(error, "not-found")) throw error;
    throw new NotPossible(
      "the cluster has no TargetGroupBinding: install the load balancer controller first, it serves the Service from then on",
    );
  }
}

function tell({ title, problems, warnings, steps, later, next }: AdoptionPlan, console: Console): void {
  const paint = painter(console);
  const lines = [
    title,
    ...problems.map((message) => paint(`  ! ${message}`, "delete")),
    ...warnings.map((message) => paint(`  ? ${message}`, "change")),
    ...steps.map(({ what, why, effect }) => paint(`  ${{ create: "+", change: "~", delete: "-" }[effect]} ${what}  (${why})`, effect)),
    ...(later.length > 0 ? ["Then the load balancer controller would:", ...stepLines(later, paint)] : []),
    ...(steps.length === 0 && problems.length === 0 ? [next] : []),
  ];
  console.out(`${lines.join("\n")}\n`);
}
