/** `fairlead migrate ingress/NAME`: prints the Gateway and routes that give what an Ingress, and the others of its group, have. */
import { isApiError } from "../kube/errors.ts";
import { gatewayClasses, loadBalancerConfigurations, targetGroupConfigurations } from "../loadbalancers/gateway/api.ts";
import type { LoadBalancerSettings } from "../loadbalancers/gateway/config.ts";
import { flavours } from "../loadbalancers/gateway/flavours.ts";
import { annotationKey } from "../loadbalancers/ingress/annotations.ts";
import { type GroupPreview, groupTitle } from "../loadbalancers/ingress/preview.ts";
import { keyOf } from "../loadbalancers/ingress/view.ts";
import { exitStatus } from "../process/exit.ts";
import { FlagError, type FlagSection, flag, parseFlags } from "../runtime/flags.ts";
import { bool, string } from "../runtime/flags-kinds.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import type { Command, Console } from "./command.ts";
import { failure } from "./failure.ts";
import { type Live, liveFlags, type Network, NotPossible, openLive } from "./live.ts";
import { type LiveIngresses, listed, openIngresses } from "./live-ingress.ts";
import { translate } from "./migrate/translate.ts";
import type { Manifest } from "./migrate/translation.ts";
import { ingressNamed } from "./plan-ingress.ts";

const flags = {
  "gateway-class": flag(string, "aws-alb", "The GatewayClass of the Gateway. One that does not exist is printed too."),
  "dry-run": flag(bool, false, "Print the Gateway with the annotation by which it is only planned until you remove it."),
  ...liveFlags,
};

const usage = `Prints the Gateway, HTTPRoutes and configurations that give the same rules as an Ingress, and applies none of them.
An Ingress of a group is printed with the others of its group.

Usage:
  fairlead migrate ingress/NAME [flags]
  fairlead migrate group/NAME [flags]

Exit status: 0 when the Gateway's load balancer is the same, 2 when it lacks something that is told on standard error, 1 when it cannot
be told, 64 for a wrong command line.`;

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "Migrate", flags }];

/** Runs the command on this machine's sockets. */
export const run: Command = (invocation) => migrate(invocation);

/** Runs the command where the network says. */
export async function migrate({ argv, world, console, stopSignal }: Parameters<Command>[0], network: Network = {}): Promise<number> {
  try {
    const { values, args } = parseFlags(flags, argv);
    if (values.help) {
      console.out(`${usage}\n\n${flagUsage(sections, console.columns)}`);
      return exitStatus.done;
    }
    const [word, ...others] = args;
    if (word === undefined || others.length > 0) throw new FlagError("name one Ingress (ingress/NAME) or one group of them (group/NAME)");
    const live = await openLive(values, world, "fairlead migrate", stopSignal(), network);
    try {
      for (const note of live.notes) console.err(`fairlead migrate: ${note}\n`);
      const preview = await previewOf(word, live.namespace, await openIngresses(live, world.clock));
      return await print(preview, { name: values["gateway-class"], dryRun: values["dry-run"] }, live, console);
    } finally {
      await live.close();
    }
  } catch (error) {
    return failure("migrate", error, console);
  }
}

async function previewOf(word: string, namespace: string, { all, preview }: LiveIngresses): Promise<GroupPreview> {
  const [, group] = /^(?:group|ingressgroup)\/([^/]+)$/.exec(word) ?? [];
  const wanted = ingressNamed(word, namespace);
  if (group === undefined && wanted === undefined)
    throw new NotPossible(`${JSON.stringify(word)} names no Ingress: write ingress/NAME, or group/NAME`);
  const key = annotationKey("group.name");
  const found = all.find(({ view }) => (wanted ? keyOf(view) === keyOf(wanted) : view.annotations[key] === group));
  if (found === undefined) throw new NotPossible(wanted ? `there is no Ingress ${keyOf(wanted)}` : `no Ingress is in group ${group}`);
  return preview(found.view);
}

interface ClassOptions {
  readonly name: string;
  readonly dryRun: boolean;
}

async function print(preview: GroupPreview, { name, dryRun }: ClassOptions, live: Live, console: Console): Promise<number> {
  const { survey, group, problems } = preview;
  const title = groupTitle(group);
  if (survey === undefined) throw new NotPossible(`${title} is being deleted`);
  if (problems.length > 0) throw new NotPossible(`${title} has no load balancer: ${problems.join("; ")}`);
  const found = await classNamed(name, live);
  const configurations = await listed(live.kube, targetGroupConfigurations, live.ask.signal);
  const { objects, lost, notes } = translate({
    group,
    desire: survey.desire,
    sources: survey.sources,
    className: name,
    dryRun,
    ...(found.settings && { ofClass: found.settings }),
    configurations: configurations.map(({ metadata, spec = {} }) => ({ namespace: metadata.namespace ?? "", name: metadata.name, spec })),
  });
  // By a file of ours: imported by itself, a CommonJS package has other exports in the bundle than in the sources.
  const { manifestText } = await import("./manifest-file.ts");
  console.out(manifestText([...found.missing, ...objects]));
  for (const line of [...notes, ...lost]) console.err(`fairlead migrate: ${line}\n`);
  if (lost.length === 0) return exitStatus.done;
  console.err(`fairlead migrate: the printed Gateway does not have all that ${title} has: see above\n`);
  return exitStatus.changes;
}

interface FoundClass {
  /** To be printed with the rest. */
  readonly missing: readonly Manifest[];
  /** What it says to all its Gateways. */
  readonly settings?: LoadBalancerSettings;
}

async function classNamed(name: string, { kube, ask }: Live): Promise<FoundClass> {
  const { controllerName } = flavours.alb;
  const orNone = (error: unknown) => {
    if (isApiError(error, "not-found")) return undefined;
    throw error;
  };
  const found = await kube.get(gatewayClasses, { name }, { signal: ask.signal }).catch(orNone);
  if (found === undefined) {
    const spec = { controllerName };
    return { missing: [{ apiVersion: "gateway.networking.k8s.io/v1", kind: "GatewayClass", metadata: { name }, spec }] };
  }
  if (found.spec?.controllerName !== controllerName)
    throw new NotPossible(
      `GatewayClass ${name} is served by ${found.spec?.controllerName}, not by ${controllerName}: name another with --gateway-class`,
    );
  const { namespace, name: of } = found.spec.parametersRef ?? {};
  if (namespace === undefined || of === undefined) return { missing: [] };
  const config = await kube.get(loadBalancerConfigurations, { namespace, name: of }, { signal: ask.signal }).catch(orNone);
  return { missing: [], ...(config?.spec && { settings: config.spec }) };
}
