/** `fairlead plan`: what the controllers would do to AWS for Services and routes, printed and not done. */

import { planJson, type Step } from "../aws/plan.ts";
import type { Service } from "../kube/types.ts";
import { serviceOfManifest, withUnknowns } from "../loadbalancers/service/manifest.ts";
import { type Preview, preview } from "../loadbalancers/service/preview.ts";
import type { SeenService } from "../loadbalancers/service/seen.ts";
import { exitStatus } from "../process/exit.ts";
import { stepsOf } from "../routes/plan.ts";
import { FlagError, type FlagSection, flag, parseFlags } from "../runtime/flags.ts";
import { bool, oneOf, string } from "../runtime/flags-kinds.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import { messageOf } from "../runtime/message-of.ts";
import type { World } from "../runtime/world.ts";
import type { Command, Console } from "./command.ts";
import { failure } from "./failure.ts";
import { type Live, liveFlags, type Network, NotPossible, openLive, serviceNamed } from "./live.ts";
import { routesOf } from "./live-routes.ts";

const flags = {
  "all-namespaces": flag(bool, false, "Look at all Services of the cluster.", { shorthand: "A" }),
  filename: flag(string, "", "A manifest with Services that may not exist yet.", { shorthand: "f" }),
  output: flag(oneOf("text", "json"), "text", "Output format.", { shorthand: "o" }),
  ...liveFlags,
};

const usage = `Prints the steps that would be taken for Services or for the routes of pods, and takes none.

Usage:
  fairlead plan service/NAME [flags]
  fairlead plan -A [flags]
  fairlead plan -f manifest.yaml [flags]
  fairlead plan routes --cluster-cidr=CIDR [flags]

Exit status: 0 when nothing would change, 2 when something would, 1 when it cannot be told, 64 for a wrong command line.`;

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "Plan", flags }];

/** Runs the command on this machine's sockets. */
export const run: Command = (invocation) => plan(invocation);

/** Runs the command where the network says. */
export async function plan({ argv, world, console, stopSignal }: Parameters<Command>[0], network: Network = {}): Promise<number> {
  try {
    const { values, args } = parseFlags(flags, argv);
    if (values.help) {
      console.out(`${usage}\n\n${flagUsage(sections, console.columns)}`);
      return exitStatus.done;
    }
    const routes = args.length === 1 && args[0] === "routes";
    if (args.length === 0 && !values["all-namespaces"] && values.filename === "")
      throw new FlagError("name a Service (service/NAME), or give -A or -f");
    const live = await openLive(values, world, "fairlead plan", stopSignal(), network);
    try {
      for (const note of live.notes) console.err(`fairlead plan: ${note}\n`);
      if (routes) return await planRoutes(live, values.output, console);
      const chosen = await choose(args, values, world, live);
      const previews: Shown[] = [];
      for (const service of chosen) previews.push({ service, ...(await preview(service, live.all, live, live.ask)) });
      console.out(values.output === "json" ? asJson(previews) : asText(previews, console));
      if (previews.some(({ problems }) => problems.length > 0)) return exitStatus.failed;
      return previews.some(({ steps }) => steps.length > 0) ? exitStatus.changes : exitStatus.done;
    } finally {
      await live.close();
    }
  } catch (error) {
    return failure("plan", error, console);
  }
}

async function planRoutes(live: Live, output: string, console: Console): Promise<number> {
  const { changes, refused } = await routesOf(live);
  const steps = changes.flatMap(stepsOf);
  const problems = refused.map(({ node, destination, why }) => ({ message: `${destination} of node ${node.name}: ${why}` }));
  if (output === "json") console.out(`${JSON.stringify({ routes: planJson(steps), problems }, undefined, 2)}\n`);
  else {
    const paint = painter(console);
    const lines = [
      `routes: ${steps.length === 0 ? "nothing to do" : counted(steps.length)}`,
      ...problems.map(({ message }) => paint(`  ! ${message}`, "delete")),
      ...steps.map((step) => paint(`  ${marks[step.effect]} ${step.what}  (${step.why})`, step.effect)),
    ];
    console.out(`${lines.join("\n")}\n`);
  }
  if (problems.length > 0) return exitStatus.failed;
  return steps.length > 0 ? exitStatus.changes : exitStatus.done;
}

type Shown = Preview & { readonly service: SeenService };

async function choose(
  args: readonly string[],
  { "all-namespaces": all, filename }: { readonly "all-namespaces": boolean; readonly filename: string },
  world: World,
  live: Live,
): Promise<readonly SeenService[]> {
  if (filename !== "") return readManifest(filename, world, live);
  if (all) return live.all;
  return args.map((word) => {
    const wanted = serviceNamed(word, live.namespace);
    const found = live.all.find(({ view }) => view.namespace === wanted.namespace && view.name === wanted.name);
    if (found === undefined) throw new NotPossible(`there is no Service ${wanted.namespace}/${wanted.name}`);
    return found;
  });
}

async function readManifest(path: string, world: World, live: Live): Promise<SeenService[]> {
  const { namespace } = live;
  // By a file of ours: imported by itself, a CommonJS package has other exports in the bundle than in the sources.
  const { objectsIn } = await import("./manifest-file.ts");
  const text = Buffer.from(await world.files.read(path)).toString();
  const found = (objectsOf(path, () => objectsIn(text)) as readonly (Service | null)[]).filter(
    (object): object is Service => object?.kind === "Service",
  );
  if (found.length === 0) throw new NotPossible(`${path} holds no Service`);
  return found.map((manifest) => {
    const own = manifest.metadata?.namespace ?? namespace;
    const stored = live.stored.find(({ metadata }) => metadata.namespace === own && metadata.name === manifest.metadata?.name);
    return serviceOfManifest(manifest, stored, namespace);
  });
}

function objectsOf(path: string, read: () => readonly unknown[]): readonly unknown[] {
  try {
    return read();
  } catch (error) {
    throw new NotPossible(`${path}: ${messageOf(error)}`, { cause: error });
  }
}

function asJson(previews: readonly Shown[]): string {
  const shown = previews.map(({ service, key, steps, problems, warnings, survey }) => ({
    service: key,
    steps: named(planJson(steps), (text) => withUnknowns(text, service, survey)),
    problems,
    warnings,
  }));
  return `${JSON.stringify(shown, undefined, 2)}\n`;
}

/** The same value with every text, and every number that is none yet, put through `name`. */
function named(value: unknown, name: (text: string) => string): unknown {
  if (typeof value === "string") return name(value);
  if (typeof value === "number") return name(String(value)) === String(value) ? value : name(String(value));
  if (Array.isArray(value)) return value.map((item) => named(item, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, named(inner, name)]));
}

const colours = { create: 32, change: 33, delete: 31, plain: 0 } as const;
const marks = { create: "+", change: "~", delete: "-", plain: " " } as const;

function painter({ columns }: Console): (text: string, colour: keyof typeof colours) => string {
  return (text, colour) => (columns > 0 && colour !== "plain" ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text);
}

function asText(previews: readonly Shown[], console: Console): string {
  const paint = painter(console);
  const lines = previews.flatMap(({ service, key, steps, problems, warnings, survey }) => [
    `service ${key}: ${summary(steps, problems.length)}`,
    ...problems.map(({ message }) => paint(`  ! ${message}`, "delete")),
    ...warnings.map(({ message }) => paint(`  ? ${message}`, "change")),
    ...steps.map((step) => {
      const text = withUnknowns(`${step.what}  (${step.why})`, service, survey);
      return paint(`  ${marks[step.effect]} ${text}`, step.effect);
    }),
  ]);
  return `${lines.join("\n")}\n`;
}

function summary(steps: readonly Step[], problems: number): string {
  if (problems > 0) return "is wrong and is not applied; what exists in AWS stays as it is";
  if (steps.length === 0) return "nothing to do";
  return counted(steps.length);
}

const counted = (steps: number) => (steps === 1 ? "1 step" : `${steps} steps`);
