/** `fairlead plan`: what the controllers would do to AWS for Services and routes, printed and not done. */

import { planJson, type Step } from "../aws/plan.ts";
import type { KubeObject } from "../kube/resource.ts";
import type { Ingress, Service } from "../kube/types.ts";
import { serviceOfManifest, unknownUid, withUnknowns } from "../loadbalancers/service/manifest.ts";
import { type Preview, preview } from "../loadbalancers/service/preview.ts";
import type { SeenService } from "../loadbalancers/service-state.ts";
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
import { type LiveClassServices, mayBeOfClass, openClassServices } from "./live-class.ts";
import type { Overlay } from "./live-ingress.ts";
import { routesOf } from "./live-routes.ts";
import {
  gatewayKinds,
  gatewayNamed,
  gatewaysAsJson,
  gatewaysAsText,
  gatewaysStatus,
  planAllGateways,
  planGateways,
} from "./plan-gateway.ts";
import {
  ingressesAsJson,
  ingressesAsText,
  ingressNamed,
  type PlannedIngresses,
  planAllIngresses,
  planIngresses,
  statusOf,
} from "./plan-ingress.ts";
import { painter, stepLines } from "./plan-text.ts";

const flags = {
  "all-namespaces": flag(bool, false, "Look at all Services, Ingresses and Gateways of the cluster.", { shorthand: "A" }),
  filename: flag(string, "", "A manifest with Services, Ingresses, Gateways and routes that may not exist yet.", { shorthand: "f" }),
  output: flag(oneOf("text", "json"), "text", "Output format.", { shorthand: "o" }),
  ...liveFlags,
};

const usage = `Prints the steps that would be taken for Services, Ingresses, Gateways or the routes of pods, and takes none.

Usage:
  fairlead plan service/NAME [flags]
  fairlead plan ingress/NAME [flags]
  fairlead plan gateway/NAME [flags]
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
      throw new FlagError("name a Service (service/NAME), an Ingress (ingress/NAME) or a Gateway (gateway/NAME), or give -A or -f");
    const live = await openLive(values, world, "fairlead plan", stopSignal(), network);
    try {
      for (const note of live.notes) console.err(`fairlead plan: ${note}\n`);
      if (routes) return await planRoutes(live, values.output, console);
      const written = values.filename === "" ? nothingWritten : await readManifest(values.filename, world);
      const named = args.flatMap((word) => ingressNamed(word, live.namespace) ?? []);
      const namedGateways = args.flatMap((word) => gatewayNamed(word, live.namespace) ?? []);
      const isIngress = named.length > 0 || written.ingresses.length > 0;
      const isGateway = namedGateways.length > 0 || written.gateways.length > 0;
      const isEverything = values["all-namespaces"] && values.filename === "";
      const planned = isIngress
        ? await planIngresses(named, written, live, world.clock)
        : isEverything
          ? await planAllIngresses(live, world.clock)
          : noIngresses;
      if (typeof planned === "string") console.err(`fairlead plan: ${planned}\n`);
      const groups = typeof planned === "string" ? noIngresses : planned;
      const gateways = isGateway
        ? await planGateways(namedGateways, [...written.gateways, ...written.services], live, world.clock)
        : isEverything
          ? await planAllGateways(live, world.clock)
          : [];
      if (typeof gateways === "string") console.err(`fairlead plan: ${gateways}\n`);
      const ofGateways = typeof gateways === "string" ? [] : gateways;
      const isOther = (word: string) => (ingressNamed(word, live.namespace) ?? gatewayNamed(word, live.namespace)) === undefined;
      const words = args.filter(isOther);
      const previews: Shown[] = [];
      const chosen = choose(words, written.services, values["all-namespaces"], live);
      const ofClass = chosen.some(mayBeOfClass) ? await openClassServices(live, world.clock, { services: written.services }) : undefined;
      for (const service of chosen) previews.push(await shownFor(service, live, mayBeOfClass(service) ? ofClass : undefined));
      const texts = [
        previews.length > 0 || !(isIngress || isGateway) ? asText(previews, console) : "",
        ingressesAsText(groups, console),
        gatewaysAsText(ofGateways, console),
      ];
      const all = [...asJson(previews), ...ingressesAsJson(groups), ...gatewaysAsJson(ofGateways)];
      console.out(values.output === "json" ? `${JSON.stringify(all, undefined, 2)}\n` : texts.join(""));
      return worst(servicesStatus(previews), statusOf(groups), gatewaysStatus(ofGateways));
    } finally {
      await live.close();
    }
  } catch (error) {
    return failure("plan", error, console);
  }
}

function servicesStatus(previews: readonly Shown[]): number {
  if (previews.some(({ problems }) => problems.length > 0)) return exitStatus.failed;
  return previews.some(({ steps }) => steps.length > 0) ? exitStatus.changes : exitStatus.done;
}

/** That something cannot be told goes before that something would change. */
function worst(...statuses: readonly number[]): number {
  return [exitStatus.failed, exitStatus.changes].find((status) => statuses.includes(status)) ?? exitStatus.done;
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
      ...stepLines(steps, paint),
    ];
    console.out(`${lines.join("\n")}\n`);
  }
  if (problems.length > 0) return exitStatus.failed;
  return steps.length > 0 ? exitStatus.changes : exitStatus.done;
}

interface Shown extends Pick<Preview, "key" | "steps" | "problems" | "warnings"> {
  /** A text with names in the place of what nobody knows yet. */
  named(text: string): string;
}

/** What both controllers of Services would do: one that is handed over is left by the one and taken by the other. */
async function shownFor(service: SeenService, live: Live, ofClass: LiveClassServices | undefined): Promise<Shown> {
  const { survey, ...seen } = await preview(service, live.all, live, live.ask);
  const other = await ofClass?.preview(service);
  if (other === undefined) return { ...seen, named: (text) => withUnknowns(text, service, survey) };
  return {
    key: seen.key,
    steps: [...other.steps, ...seen.steps],
    problems: [...other.problems, ...seen.problems],
    warnings: [...other.warnings, ...seen.warnings],
    named: (text) => withUnknowns(withoutHash(text, service), service, other.survey?.seen ?? survey),
  };
}

/** Names have a hash of the UID in them, which nobody knows of a Service that is only written down. */
function withoutHash(text: string, { metadata, view }: SeenService): string {
  if (metadata.uid !== unknownUid) return text;
  const short = (part: string) => part.replace(/[^A-Za-z0-9]/g, "").slice(0, 8);
  const prefix = `k8s-${short(view.namespace)}-${short(view.name)}-`;
  return text.replace(new RegExp(`${prefix}[0-9a-f]{10}`, "g"), `${prefix}<hash>`);
}

const noIngresses: PlannedIngresses = { previews: [], refused: new Map() };

/** The objects of a manifest. */
interface Written extends Overlay {
  readonly gateways: readonly KubeObject[];
}

const nothingWritten: Written = { ingresses: [], services: [], gateways: [] };

function choose(words: readonly string[], written: readonly Service[], all: boolean, live: Live): readonly SeenService[] {
  if (written.length > 0) return written.map((manifest) => ofManifest(manifest, live));
  if (all) return live.all;
  return words.map((word) => {
    const wanted = serviceNamed(word, live.namespace);
    const found = live.all.find(({ view }) => view.namespace === wanted.namespace && view.name === wanted.name);
    if (found === undefined) throw new NotPossible(`there is no Service ${wanted.namespace}/${wanted.name}`);
    return found;
  });
}

function ofManifest(manifest: Service, { namespace, stored: all }: Live): SeenService {
  const own = manifest.metadata?.namespace ?? namespace;
  const stored = all.find(({ metadata }) => metadata.namespace === own && metadata.name === manifest.metadata?.name);
  return serviceOfManifest(manifest, stored, namespace);
}

/** The Services, Ingresses and Gateways of a file, with what Gateways follow from. */
async function readManifest(path: string, world: World): Promise<Written> {
  // By a file of ours: imported by itself, a CommonJS package has other exports in the bundle than in the sources.
  const { objectsIn } = await import("./manifest-file.ts");
  const text = Buffer.from(await world.files.read(path)).toString();
  const found = objectsOf(path, () => objectsIn(text)) as readonly ({ readonly kind?: string } | null)[];
  const services = found.filter((object): object is Service => object?.kind === "Service");
  const ingresses = found.filter((object): object is Ingress => object?.kind === "Ingress");
  const gateways = found.filter((object): object is KubeObject => gatewayKinds.includes(object?.kind ?? ""));
  if (services.length + ingresses.length + gateways.length === 0)
    throw new NotPossible(`${path} holds no Service, no Ingress and nothing of a Gateway`);
  return { services, ingresses, gateways };
}

function objectsOf(path: string, read: () => readonly unknown[]): readonly unknown[] {
  try {
    return read();
  } catch (error) {
    throw new NotPossible(`${path}: ${messageOf(error)}`, { cause: error });
  }
}

function asJson(previews: readonly Shown[]): readonly object[] {
  return previews.map(({ key, steps, problems, warnings, named: name }) => ({
    service: key,
    steps: named(planJson(steps), name),
    problems,
    warnings,
  }));
}

/** The same value with every text, and every number that is none yet, put through `name`. */
function named(value: unknown, name: (text: string) => string): unknown {
  if (typeof value === "string") return name(value);
  if (typeof value === "number") return name(String(value)) === String(value) ? value : name(String(value));
  if (Array.isArray(value)) return value.map((item) => named(item, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, named(inner, name)]));
}

function asText(previews: readonly Shown[], console: Console): string {
  const paint = painter(console);
  const lines = previews.flatMap(({ key, steps, problems, warnings, named: name }) => [
    `service ${key}: ${summary(steps, problems.length)}`,
    ...problems.map(({ message }) => paint(`  ! ${message}`, "delete")),
    ...warnings.map(({ message }) => paint(`  ? ${message}`, "change")),
    ...stepLines(steps, paint, name),
  ]);
  return `${lines.join("\n")}\n`;
}

function summary(steps: readonly Step[], problems: number): string {
  if (problems > 0) return "is wrong and is not applied; what exists in AWS stays as it is";
  if (steps.length === 0) return "nothing to do";
  return counted(steps.length);
}

const counted = (steps: number) => (steps === 1 ? "1 step" : `${steps} steps`);
