/** `fairlead interruptions simulate KIND NODE`: asks for an interruption that AWS knows nothing of, to see what would happen. */
import { simulatedInterruptionAnnotation } from "../../identity/node-view.ts";
import { type EventKind, eventKinds } from "../../interruptions/event.ts";
import { simulationRequest } from "../../interruptions/simulated.ts";
import { nodes } from "../../kube/builtin.ts";
import { KubeClient } from "../../kube/client.ts";
import { discoverKubeConfig } from "../../kube/config/load.ts";
import type { Connect } from "../../kube/connections.ts";
import { agentOf } from "../../process/clients.ts";
import { exitStatus } from "../../process/exit.ts";
import { FlagError, type FlagSection, flag, parseFlags } from "../../runtime/flags.ts";
import { bool, string } from "../../runtime/flags-kinds.ts";
import { flagUsage } from "../../runtime/flags-usage.ts";
import { openGate } from "../../runtime/gate.ts";
import { silentLog } from "../../runtime/log.ts";
import { newRegistry } from "../../runtime/metrics.ts";
import { nearest } from "../../runtime/nearest.ts";
import { uuid } from "../../runtime/world.ts";
import type { Command } from "../command.ts";
import { failure } from "../failure.ts";

const flags = {
  kubeconfig: flag(string, "", "Path of a kubeconfig file. Empty: as kubectl finds it."),
  context: flag(string, "", "Context of the kubeconfig."),
  yes: flag(bool, false, "Do it. Without, it is only said what would be done."),
  help: flag(bool, false, "Print this.", { shorthand: "h" }),
};

const kinds = Object.keys(eventKinds) as readonly EventKind[];

const usage = `Asks the termination handler of a cluster, in whichever mode, to treat a Node as if AWS had announced its interruption. What
follows is real: the Node is cordoned and its pods are evicted. Its plan, its Events and "fairlead explain" say that it is simulated. The
instance stays, and so does the cordon: kubectl uncordon NODE ends it.

Usage:
  fairlead interruptions simulate KIND NODE --yes

Kinds: ${kinds.join(", ")}`;

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "Simulate", flags }];

/** Runs the command where the network says. */
export async function simulate({ argv, world, console, stopSignal }: Parameters<Command>[0], connect?: Connect): Promise<number> {
  try {
    const { values, args } = parseFlags(flags, argv);
    if (values.help) {
      console.out(`${usage}\n\n${flagUsage(sections, console.columns)}`);
      return exitStatus.done;
    }
    const { kind, node } = wordsOf(args);
    if (!values.yes) {
      console.out(`would annotate Node ${node} with ${simulatedInterruptionAnnotation}; its pods would be evicted. Give --yes to do it.\n`);
      return exitStatus.changes;
    }
    const config = await discoverKubeConfig(world, { kubeconfig: values.kubeconfig, context: values.context });
    const host = { world, log: silentLog, metrics: newRegistry() };
    const kube = new KubeClient({ host, config, gate: openGate(), userAgent: agentOf("interruptions"), ...(connect && { connect }) });
    try {
      const request = simulationRequest({ kind, id: uuid(world.random), at: world.clock.now() });
      const merge = { metadata: { annotations: { [simulatedInterruptionAnnotation]: request } } };
      await kube.patch(nodes, { name: node }, { merge }, { signal: stopSignal() });
    } finally {
      await kube.close();
    }
    console.out(`asked for a simulated ${kind} of ${node}; see: fairlead explain node/${node}\n`);
    return exitStatus.done;
  } catch (error) {
    return failure("interruptions", error, console);
  }
}

function wordsOf(args: readonly string[]): { readonly kind: EventKind; readonly node: string } {
  const [kind = "", node = "", ...more] = args;
  if (node === "" || more.length > 0) throw new FlagError("write: fairlead interruptions simulate KIND NODE");
  if (!Object.hasOwn(eventKinds, kind)) {
    const guess = nearest(kind, kinds);
    throw new FlagError(`"${kind}" is not a kind of interruption${guess ? `, did you mean ${guess}?` : ""}; there are ${kinds.join(", ")}`);
  }
  return { kind: kind as EventKind, node: node.replace(/^nodes?\//, "") };
}
