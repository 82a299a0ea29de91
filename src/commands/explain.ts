/** `fairlead explain service/NAME`: one page about a Service's load balancer; `node/NAME`: one about a Node; `pvc/NAME`, `pv/NAME`: about a volume. */

import { idsNamedIn } from "../aws/error-ids.ts";
import { events } from "../kube/builtin.ts";
import { explainGateway } from "../loadbalancers/gateway/explain.ts";
import type { ObjectName } from "../loadbalancers/gateway/view.ts";
import { explainIngress } from "../loadbalancers/ingress/explain.ts";
import { explain } from "../loadbalancers/service/explain.ts";
import { preview } from "../loadbalancers/service/preview.ts";
import { explainClassService } from "../loadbalancers/service-class/explain.ts";
import { ageText } from "../runtime/age-text.ts";
import { FlagError, type FlagSection, flag, parseFlags } from "../runtime/flags.ts";
import { bool, string } from "../runtime/flags-kinds.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import { socketTransport } from "../runtime/http.ts";
import { messageOf } from "../runtime/message-of.ts";
import { wholeAnswer } from "../runtime/whole-answer.ts";
import type { Clock } from "../runtime/world.ts";
import type { Command } from "./command.ts";
import { type PastWarning, warningsIn } from "./event-history.ts";
import { bindingNamed, explainNamedBinding } from "./explain-binding.ts";
import { explainNode } from "./explain-node.ts";
import { explainNamedVolume, volumeNamed } from "./explain-volume.ts";
import { failure } from "./failure.ts";
import { type Live, liveFlags, type Network, NotPossible, openLive, serviceNamed } from "./live.ts";
import { mayBeOfClass, openClassServices } from "./live-class.ts";
import { openGatewaysOf } from "./live-gateway.ts";
import { openIngresses } from "./live-ingress.ts";
import { gatewayNamed } from "./plan-gateway.ts";
import { ingressNamed } from "./plan-ingress.ts";

const flags = {
  endpoint: flag(
    string,
    "",
    "Where the leader serves (https://host:10258), to ask it for its last calls to AWS, for example through a port-forward.",
  ),
  "endpoint-insecure-skip-tls-verify": flag(bool, false, "Accept any certificate of the endpoint."),
  ...liveFlags,
};

const usage = `Tells what a Service asks for, what exists in AWS, what differs and what to do next; or which instance a Node is,
what it should show and how its pods are reached; or where the disk of a claim is and what keeps it from its pod. Changes nothing.

Usage:
  fairlead explain service/NAME [flags]
  fairlead explain ingress/NAME [flags]
  fairlead explain gateway/NAME [flags]
  fairlead explain targetgroupbinding/NAME [flags]
  fairlead explain node/NAME [flags]
  fairlead explain pvc/NAME [flags]
  fairlead explain pv/NAME [flags]`;

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "Explain", flags }];

/** One entry of the leader's ledger. */
interface Call {
  readonly at: number;
  readonly service: string;
  readonly action: string;
  readonly outcome: string;
  readonly code?: string;
  readonly requestId?: string;
  readonly cause: string;
}

/** Runs the command on this machine's sockets. */
export const run: Command = (invocation) => explainService(invocation);

/** Runs the command where the network says. */
export async function explainService({ argv, world, console, stopSignal }: Parameters<Command>[0], network: Network = {}): Promise<number> {
  try {
    const { values, args } = parseFlags(flags, argv);
    if (values.help) {
      console.out(`${usage}\n\n${flagUsage(sections, console.columns)}`);
      return 0;
    }
    const [word, ...more] = args;
    if (word === undefined || more.length > 0)
      throw new FlagError(
        "name one object: fairlead explain service/NAME, ingress/NAME, gateway/NAME, targetgroupbinding/NAME, node/NAME, pvc/NAME or pv/NAME",
      );
    const live = await openLive(values, world, "fairlead explain", stopSignal(), network);
    try {
      for (const note of live.notes) console.err(`fairlead explain: ${note}\n`);
      const node = /^nodes?\/(.+)$/.exec(word)?.[1];
      if (node !== undefined) {
        console.out(await explainNode(node, live, world.clock.now()));
        return 0;
      }
      const volume = volumeNamed(word, live.namespace);
      if (volume !== undefined) {
        console.out(await explainNamedVolume(volume, live, world.clock.now()));
        return 0;
      }
      const ingress = ingressNamed(word, live.namespace);
      if (ingress !== undefined) {
        console.out(await explainIngressNamed(ingress, live, world.clock));
        return 0;
      }
      const gateway = gatewayNamed(word, live.namespace);
      if (gateway !== undefined) {
        console.out(await explainGatewayNamed(gateway, live, world.clock));
        return 0;
      }
      const binding = bindingNamed(word, live.namespace);
      if (binding !== undefined) {
        const told = async (uid: string, namespace: string) =>
          (await warningsAbout(uid, namespace, live)).map((warning) => warningText(warning, world.clock.now()));
        console.out(await explainNamedBinding(binding, live, world.clock, told));
        return 0;
      }
      const wanted = serviceNamed(word, live.namespace);
      const service = live.all.find(({ view }) => view.namespace === wanted.namespace && view.name === wanted.name);
      if (service === undefined) throw new NotPossible(`there is no Service ${wanted.namespace}/${wanted.name}`);
      const calls = await lastCalls(
        values.endpoint,
        values["endpoint-insecure-skip-tls-verify"],
        `${wanted.namespace}/${wanted.name}`,
        live,
        world.clock,
      );
      const warnings = await warningsAbout(service.metadata.uid, wanted.namespace, live);
      const events = warnings.map((warning) => warningText(warning, world.clock.now()));
      const ofClass = mayBeOfClass(service) ? await openClassServices(live, world.clock) : undefined;
      const classPreview = await ofClass?.preview(service);
      if (ofClass && classPreview) {
        const { view, published } = service;
        const told = { service: view, preview: classPreview, published: published.map(({ hostname }) => hostname), events, calls };
        console.out(await explainClassService(told, ofClass.inventory, live.ask));
        return 0;
      }
      const seen = await preview(service, live.all, live, live.ask);
      const told = {
        preview: seen,
        service,
        failures: warnings.flatMap(({ text, holds }) => (holds ? [text] : [])),
        events,
        calls,
      };
      console.out(await explain(told, live, live.ask));
      return 0;
    } finally {
      await live.close();
    }
  } catch (error) {
    return failure("explain", error, console);
  }
}

async function explainIngressNamed(
  wanted: { readonly namespace: string; readonly name: string },
  live: Live,
  clock: Clock,
): Promise<string> {
  const { all, context, preview: previewOf } = await openIngresses(live, clock);
  const found = all.find(({ view }) => view.namespace === wanted.namespace && view.name === wanted.name);
  if (found === undefined) throw new NotPossible(`there is no Ingress ${wanted.namespace}/${wanted.name}`);
  const seen = await previewOf(found.view);
  const isSecure = seen.survey?.desire.model.listeners.some(({ protocol }) => protocol === "HTTPS");
  const warnings = await warningsAbout(found.metadata.uid, wanted.namespace, live);
  return explainIngress(
    {
      preview: seen,
      ingress: found.view,
      published: found.published.map(({ hostname }) => hostname),
      events: warnings.map((warning) => warningText(warning, clock.now())),
      certificates: isSecure ? await live.cloud.certificates.issued(false, live.ask) : [],
    },
    context,
    live.ask,
  );
}

async function explainGatewayNamed(wanted: ObjectName, live: Live, clock: Clock): Promise<string> {
  const { all, inventory, preview: previewOf } = await openGatewaysOf(live, clock);
  const key = `${wanted.namespace}/${wanted.name}`;
  const found = all.find(({ view }) => `${view.namespace}/${view.name}` === key);
  if (found === undefined) throw new NotPossible(`there is no Gateway ${key}`);
  const previews = await previewOf(found);
  if (previews.length === 0)
    throw new NotPossible(`Gateway ${key} is not served: its class ${found.view.className} is another controller's`);
  const warnings = await warningsAbout(found.metadata.uid, wanted.namespace, live);
  const events = warnings.map((warning) => warningText(warning, clock.now()));
  const pages = await Promise.all(
    previews.map((seen) => explainGateway({ preview: seen, controllerName: seen.flavour.controllerName, events }, inventory, live.ask)),
  );
  return pages.join("\n");
}

async function warningsAbout(uid: string, namespace: string, { kube, ask }: Live): Promise<readonly PastWarning[]> {
  const { items } = await kube.list(events, { namespace, fieldSelector: `involvedObject.uid=${uid}`, signal: ask.signal });
  return warningsIn(items);
}

function warningText({ text, atMs, holds }: PastWarning, now: number): string {
  return `${ageText(atMs, now)}${holds ? "" : ", over"}: ${text}`;
}

/** What the leader did last for this Service, or why it is not known. */
async function lastCalls(endpoint: string, insecure: boolean, key: string, { kube, ask }: Live, clock: Clock): Promise<string[]> {
  if (endpoint === "") return ["not known: give --endpoint, for example through a port-forward to the leader"];
  const sockets = socketTransport({ ...(insecure && { tls: { insecure: true } }), connectTimeoutMs: 3_000 });
  try {
    const { headers } = await kube.config.access(ask.signal);
    const url = new URL("/debug/fairlead/calls", endpoint);
    const limits = { clock, limitMs: 15_000, what: `GET ${url.origin}`, signal: ask.signal, maxBytes: 64 * 1024 * 1024 };
    const answer = await wholeAnswer(sockets.send, { method: "GET", url, headers }, limits);
    if (answer.status !== 200) return [`not known: ${endpoint} answered ${answer.status}`];
    const calls = (JSON.parse(answer.body) as { readonly calls: readonly Call[] }).calls.filter(
      ({ cause }) => idsNamedIn(cause, [`service ${key}`]).length > 0,
    );
    return calls.slice(-20).map(callText);
  } catch (error) {
    return [`not known: ${endpoint} cannot be reached: ${messageOf(error)}`];
  } finally {
    await sockets.close();
  }
}

function callText({ at, service, action, outcome, code, requestId }: Call): string {
  const result = code ? `${outcome} (${code})` : outcome;
  return `${new Date(at).toISOString()} ${service}:${action} ${result}${requestId ? ` request id ${requestId}` : ""}`;
}
