/** `fairlead interruptions setup`: shows, and with --yes makes, what AWS needs so that interruptions are heard in queue mode. */

import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { type Cloud, Clouds } from "../../aws/cloud.ts";
import { getCallerIdentity } from "../../aws/identity-actions.ts";
import { type HeardKind, heardKinds } from "../../aws/interruption-rules.ts";
import { partitionOf } from "../../aws/partitions.ts";
import { planJson, type Step } from "../../aws/plan.ts";
import { awsSockets } from "../../aws/sockets.ts";
import { observeSetup } from "../../interruptions/setup/observe.ts";
import { planSetup } from "../../interruptions/setup/plan.ts";
import { type DeadLetters, deadLetterChoices, type SetupPlan, type SetupWish } from "../../interruptions/setup/wish.ts";
import { build } from "../../process/build.ts";
import { exitStatus } from "../../process/exit.ts";
import { FlagError, type FlagSection, type FlagValues, flag, parseFlags } from "../../runtime/flags.ts";
import { bool, int, oneOf, string, strings } from "../../runtime/flags-kinds.ts";
import { flagUsage } from "../../runtime/flags-usage.ts";
import { openGate } from "../../runtime/gate.ts";
import type { Transport } from "../../runtime/http.ts";
import { silentLog } from "../../runtime/log.ts";
import { newRegistry } from "../../runtime/metrics.ts";
import { nearest } from "../../runtime/nearest.ts";
import { redactLines } from "../../runtime/redact.ts";
import type { Command, Console } from "../command.ts";
import { failure } from "../failure.ts";
import { painter, stepLines } from "../plan-text.ts";
import { handlerRole, roleText, type ServiceAccount } from "./role.ts";

const usualKinds = heardKinds.filter((kind) => kind !== "launch");
const usualName = "fairlead-interruptions";
const usualAccount = "kube-system/fairlead-node-termination-handler";

const flags = {
  plan: flag(bool, false, "Show what would be done, and do nothing. This is what happens without --yes too."),
  yes: flag(bool, false, "Do it."),
  "cluster-name": flag(
    string,
    "",
    "Name of the cluster: Auto Scaling groups that carry the tag kubernetes.io/cluster/NAME are set up, and what is made carries it.",
  ),
  groups: flag(strings, [], "Names of further Auto Scaling groups to set up."),
  name: flag(string, "", `Name of the queue, and what the names of rules begin with. Empty: ${usualName}, with the name of the cluster.`),
  kinds: flag(strings, usualKinds, `Kinds of notices to pass on, of ${heardKinds.join(", ")}.`),
  "managed-tag": flag(
    string,
    "aws-node-termination-handler/managed",
    "Tag that groups and their instances get. Empty: none, for a handler with --check-tag-before-draining=false.",
  ),
  "dead-letter-queue": flag(
    oneOf(...deadLetterChoices),
    "new",
    "A second queue for what cannot be delivered or handled: with a queue that is made (new), also for one that is there (always), or never.",
  ),
  role: flag(string, "", "Name of an IAM role for the handler, which is made with the policy it needs. Empty: none is."),
  "oidc-provider": flag(
    string,
    "",
    "The cluster's OIDC provider, such as oidc.eks.REGION.amazonaws.com/id/ID, by which pods take the role. Empty: by EKS Pod Identity.",
  ),
  "service-account": flag(string, usualAccount, "Service account of the handler, NAMESPACE/NAME, that takes the role."),
  "hook-timeout-seconds": flag(int, 300, "How long a hook that is made holds an instance, 30 to 7200."),
  region: flag(string, "", "Region. Empty: that of the environment, or of the machine."),
  output: flag(oneOf("text", "json"), "text", "Output format.", { shorthand: "o" }),
  help: flag(bool, false, "Print this.", { shorthand: "h" }),
};

type SetupOptions = FlagValues<typeof flags>;

const usage = `Shows what AWS needs so that the termination handler hears of interruptions in queue mode, and with --yes makes it: a queue that
EventBridge may send to with a dead-letter queue, one rule per kind of notice, for each Auto Scaling group a lifecycle hook and the tag that
the handler asks for, and with --role an IAM role. What is there already stays as it is, rules and hooks of other names too; nothing is ever deleted.

Usage:
  fairlead interruptions setup --cluster-name NAME [--plan | --yes]`;

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "Setup", flags }];

/** Runs the command; `transport` is how AWS is reached, this machine's sockets unless told otherwise. */
export async function setup({ argv, world, console, stopSignal }: Parameters<Command>[0], transport?: Transport): Promise<number> {
  let options: SetupOptions;
  try {
    options = parseSetupFlags(argv);
  } catch (error) {
    return failure("interruptions setup", error, console);
  }
  if (options.help) {
    console.out(`${usage}\n\n${flagUsage(sections, console.columns)}`);
    return exitStatus.done;
  }
  const sockets = transport === undefined ? awsSockets(world) : undefined;
  try {
    const clouds = new Clouds({
      host: { world, log: silentLog, metrics: newRegistry() },
      transport: transport ?? sockets!.send,
      gate: openGate(),
      settings: { serviceOverrides: [], ...(options.region !== "" && { region: options.region }) },
      version: build.version,
    });
    const signal = stopSignal();
    return await converge(options, await clouds.home(signal), console, signal);
  } catch (error) {
    const ifDenied = "The command acts with your own credentials: they need the policy deploy/iam/interruptions-setup.json.";
    return failure("interruptions setup", error, console, ifDenied);
  } finally {
    await sockets?.close();
  }
}

/** Looks, shows, and where that is asked for acts and looks again. */
async function converge(options: SetupOptions, cloud: Cloud, console: Console, signal: AbortSignal): Promise<number> {
  const ask: Ask = { cause: "interruptions setup", signal, urgency: "user" };
  const wish = await wishOf(options, cloud, ask);
  const choice = { names: options.groups, clusterName: options["cluster-name"] };
  const seen = await observeSetup(cloud, wish, choice, ask);
  const plan = planSetup(wish, seen);
  const say = (text: string) => console.out(redactLines(text));
  const { role } = wish;
  if (options.output === "json")
    say(`${JSON.stringify({ steps: planJson(plan.steps), kept: plan.kept, ...(role && { role }) }, undefined, 2)}\n`);
  else say(planText(plan, seen.groups.length, options, console) + (role && plan.steps.length > 0 ? roleText(role) : ""));
  if (plan.steps.length === 0) return exitStatus.done;
  if (!options.yes) return exitStatus.changes;
  await apply(plan.steps, cloud, { ...ask, onStep: failedTargets });
  const { queue } = await observeSetup(cloud, wish, choice, ask);
  if (options.output === "text") say(`\ndone. The handler reads ${queue?.url}\n${roleHint(wish, options)}\n`);
  return exitStatus.done;
}

async function wishOf(options: SetupOptions, cloud: Cloud, ask: Ask): Promise<SetupWish> {
  const cluster = options["cluster-name"];
  const { Account: account = "" } = await cloud.call(getCallerIdentity, {}, ask);
  const place = { partition: partitionOf(cloud.region).name, region: cloud.region, account, name: nameOf(options) };
  return {
    ...place,
    kinds: options.kinds as readonly HeardKind[],
    tags: cluster === "" ? {} : { [`kubernetes.io/cluster/${cluster}`]: "owned" },
    managedTag: options["managed-tag"],
    hookSeconds: options["hook-timeout-seconds"],
    deadLetters: options["dead-letter-queue"] as DeadLetters,
    role: options.role === "" ? undefined : handlerRole(options.role, place, accountOf(options), options["oidc-provider"]),
  };
}

/** How pods get the role. */
function roleHint({ role, partition, account }: SetupWish, options: SetupOptions): string {
  if (role === undefined) return "and needs the policy deploy/iam/interruptions.json.";
  const arn = `arn:${partition}:iam::${account}:role/${role.name}`;
  const { namespace, name } = accountOf(options);
  if (options["oidc-provider"] !== "")
    return `under ${arn}:\nannotate service account ${namespace}/${name} with eks.amazonaws.com/role-arn=${arn}`;
  const cluster = options["cluster-name"] || "CLUSTER";
  const association = `--cluster-name ${cluster} --namespace ${namespace} --service-account ${name} --role-arn ${arn}`;
  return `under ${arn}:\naws eks create-pod-identity-association ${association}`;
}

function accountOf(options: SetupOptions): ServiceAccount {
  const [namespace = "", name = ""] = options["service-account"].split("/");
  return { namespace, name };
}

function planText({ steps, kept }: SetupPlan, groups: number, options: SetupOptions, console: Console): string {
  const paint = painter(console);
  const hint = groups === 0 ? ["  no Auto Scaling group is set up: give --cluster-name, for groups that carry its tag, or --groups"] : [];
  const left = kept.map((each) => `  = ${each}`);
  const last = steps.length === 0 ? "nothing to do" : options.yes ? "" : `${steps.length} steps; give --yes to carry them out`;
  return `${[...stepLines(steps, paint), ...left, ...hint, last].filter((line) => line !== "").join("\n")}\n`;
}

/** EventBridge says in a successful answer which targets it did not take. */
function failedTargets({ what }: Step, output: unknown): void {
  const { FailedEntries: [failed] = [] } = output as { readonly FailedEntries?: readonly { ErrorCode?: string; ErrorMessage?: string }[] };
  if (failed !== undefined) throw new Error(`${what}: ${failed.ErrorCode}: ${failed.ErrorMessage}`);
}

function nameOf({ name, "cluster-name": cluster }: SetupOptions): string {
  return name !== "" ? name : cluster === "" ? usualName : `${usualName}-${cluster}`;
}

/** Reads the command line. */
export function parseSetupFlags(argv: readonly string[]): SetupOptions {
  const { values, args } = parseFlags(flags, argv);
  if (args.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(args[0])}`);
  if (values.plan && values.yes) throw new FlagError("--plan and --yes: give one of them");
  for (const kind of values.kinds) {
    if (heardKinds.some((known) => known === kind)) continue;
    const guess = nearest(kind, heardKinds);
    const hint = guess === undefined ? "" : `, did you mean ${guess}?`;
    throw new FlagError(`--kinds: ${JSON.stringify(kind)} is not a kind of notice${hint}; there are ${heardKinds.join(", ")}`);
  }
  const name = nameOf(values);
  // The longest kind and a dash still fit into the 64 characters of a rule's name.
  if (!/^[A-Za-z0-9_-]{1,49}$/.test(name)) {
    throw new FlagError(
      `--name: ${JSON.stringify(name)} cannot be the name of a queue and its rules: letters, digits, - and _, at most 49`,
    );
  }
  if (!/^[a-z0-9-]{1,63}\/[a-z0-9.-]{1,253}$/.test(values["service-account"])) {
    throw new FlagError(`--service-account: ${JSON.stringify(values["service-account"])} is not NAMESPACE/NAME`);
  }
  if (values.role !== "" && !/^[\w+=,.@-]{1,64}$/.test(values.role)) {
    throw new FlagError(`--role: ${JSON.stringify(values.role)} cannot be the name of a role: letters, digits and +=,.@_-, at most 64`);
  }
  if (/^https?:|[^\w./:-]|\/$/.test(values["oidc-provider"])) {
    throw new FlagError(`--oidc-provider: ${JSON.stringify(values["oidc-provider"])} is not a host and a path, without https://`);
  }
  const seconds = values["hook-timeout-seconds"];
  if (seconds < 30 || seconds > 7_200) throw new FlagError(`--hook-timeout-seconds: ${seconds} is not between 30 and 7200`);
  return values;
}
