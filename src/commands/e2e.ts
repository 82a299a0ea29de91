/** `fairlead e2e`: tests what is installed, on the user's own cluster and account, and removes everything that it made. */

import { cases, notIncluded } from "../e2e/cases.ts";
import type { Answer, Context } from "../e2e/context.ts";
import { printedReport } from "../e2e/report.ts";
import { casesNamed, type Report, runSuite, withFreeRun } from "../e2e/run.ts";
import { build } from "../process/build.ts";
import { exitStatus } from "../process/exit.ts";
import { FlagError, type FlagSection, type FlagValues, flag, parseFlags } from "../runtime/flags.ts";
import { bool, duration, oneOf, string, strings } from "../runtime/flags-kinds.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import { openGate } from "../runtime/gate.ts";
import { bodyText, socketTransport } from "../runtime/http.ts";
import { redact } from "../runtime/redact.ts";
import { uuid, type World, within } from "../runtime/world.ts";
import type { Command, Console } from "./command.ts";
import { failure } from "./failure.ts";
import { type Live, liveFlags, type Network, openLive } from "./live.ts";

const flags = {
  "yes-it-costs-money": flag(bool, false, "Run it: load balancers and disks are made in your account, which AWS charges for by the hour."),
  cases: flag(strings, [], "Run only these. Empty: all."),
  list: flag(bool, false, "Print the cases, and run nothing."),
  "skip-pods": flag(bool, false, "Start no pods: requests and image pulls are left out, for clusters whose nodes run none."),
  image: flag(
    string,
    "registry.k8s.io/e2e-test-images/agnhost:2.56",
    "Image of the server that answers requests; agnhost, from a registry that your nodes can pull from.",
  ),
  "interrupt-node": flag(string, "", "Node to drain for the case of interruptions: its pods are evicted. Empty: the case is skipped."),
  timeout: flag(duration, 10 * 60_000, "How long each thing is waited for."),
  "poll-interval": flag(duration, 5_000, "How often it is looked at meanwhile."),
  output: flag(oneOf("text", "json"), "text", "Form of the report.", { shorthand: "o" }),
  ...liveFlags,
};

const usage = `Tests the controllers that run in a cluster: Services, Ingresses and claims are made, their load balancers and disks looked at
in AWS, requests sent, and everything removed again. It makes only things that carry the label and tag fairlead-e2e, and at the end looks for them until none is left.

Usage:
  fairlead e2e --yes-it-costs-money [flags]

Exit status: 0 when no case failed and nothing is left; 1 otherwise; 64 for a wrong command line.`;

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "End-to-end tests", flags }];

/** Runs the command on this machine's sockets. */
export const run: Command = (invocation) => testEndToEnd(invocation);

/** How the load balancers are reached, too. */
interface Outside extends Network {
  readonly request?: Context["request"];
}

/** Runs the command where the network says. */
export async function testEndToEnd({ argv, world, console, stopSignal }: Parameters<Command>[0], network: Outside = {}): Promise<number> {
  try {
    const { values, args } = parseFlags(flags, argv);
    if (values.help) return print(console, `${usage}\n\n${flagUsage(sections, console.columns)}`);
    if (args.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(args[0])}`);
    if (values.list) return print(console, listText());
    const { chosen, unknown } = casesNamed(values.cases);
    if (unknown.length > 0) throw new FlagError(`--cases: ${unknown.join(", ")}: fairlead e2e --list prints those there are`);
    if (!values["yes-it-costs-money"]) {
      throw new FlagError(
        `${chosen.length} cases make about ${chosen.length} load balancers or disks, for minutes each: say --yes-it-costs-money to run them`,
      );
    }
    const live = await openLive(values, world, "fairlead e2e", stopSignal(), network, openGate());
    try {
      for (const note of live.notes) console.err(`fairlead e2e: ${note}\n`);
      const context = await withFreeRun(() => contextOf(values, live, uuid(world.random).slice(0, 5), world, network));
      const id = context.run;
      console.err(`fairlead e2e: run ${id} on cluster ${live.self.cluster.id}, namespace ${live.namespace}\n`);
      const about = { version: build.version, commit: build.commit, server: await serverVersion(live), region: live.cloud.region };
      const report = await runSuite(context, chosen, (line) => console.err(`fairlead e2e: ${redact(line)}\n`));
      console.out(printedReport(report, about, values.output));
      return isGood(report) ? exitStatus.done : exitStatus.failed;
    } finally {
      await live.close();
    }
  } catch (error) {
    return failure(
      "e2e",
      error,
      console,
      "It works with your own credentials: they need the read permissions of deploy/iam, and those of security groups.",
    );
  }
}

function contextOf(values: FlagValues<typeof flags>, live: Live, run: string, world: World, outside: Outside): Context {
  const { kube, cloud, ask, self, namespace, settings, clusterCidr } = live;
  return {
    world,
    kube,
    cloud,
    ask,
    cluster: self.cluster,
    vpc: self.vpc ?? "",
    run,
    namespace,
    pods: !values["skip-pods"],
    image: values.image,
    managedNetworkGroups: settings.managedNetworkGroups,
    clusterCidr,
    pollMs: values["poll-interval"],
    timeoutMs: values.timeout,
    interruptNode: values["interrupt-node"],
    request: outside.request ?? ((url, host) => request(url, host, world, ask.signal)),
    made: new Map(),
    undo: new Map(),
    leftOut: () => {},
  };
}

/** Load balancers answer on plain HTTP here, and their names may not be known to DNS yet: a refusal is an answer to try again after. */
async function request(url: string, host: string | undefined, { clock }: World, outer: AbortSignal): Promise<Answer> {
  const transport = socketTransport({ connectTimeoutMs: 10_000 });
  try {
    return await within(clock, 30_000, `GET ${url}`, outer, async (signal) => {
      const answer = await transport.send({ method: "GET", url: new URL(url), headers: { ...(host && { host }) }, signal });
      return { status: answer.status, body: await bodyText(answer) };
    });
  } finally {
    await transport.close();
  }
}

async function serverVersion({ kube, ask }: Live): Promise<string> {
  const { gitVersion } = JSON.parse(await kube.raw("/version", { signal: ask.signal })) as { readonly gitVersion: string };
  return gitVersion;
}

function isGood({ outcomes, left }: Report): boolean {
  return left.length === 0 && outcomes.every(({ result }) => result !== "failed");
}

function listText(): string {
  const rows = cases.map(({ name, checks }) => [name, checks] as const);
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  const others = Object.entries(notIncluded).map(([name, why]) => `not included: ${name}: ${why}\n`);
  return `${rows.map(([name, checks]) => `${name.padEnd(width)}${checks}\n`).join("")}${others.join("")}`;
}

function print(console: Console, text: string): number {
  console.out(text);
  return exitStatus.done;
}
