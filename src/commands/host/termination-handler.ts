/** The termination handler as a hosted program: reading the queue in `fairlead cluster`, the metadata service in `fairlead node`. */
import { nodeInformer } from "../../identity/node-view.ts";
import type { KubeClient } from "../../kube/client.ts";
import { ConfigurationFailed } from "../../process/errors.ts";
import { OptionsInvalid } from "../../process/flag-problems.ts";
import type { ControllerEntry, Enabled, ProcessContext } from "../../process/program.ts";
import type { FlagValues } from "../../runtime/flags.ts";
import { flagSections, flagTable, type Options } from "../node-termination-handler/flags.ts";
import { completeHeartbeats, currentNames, optionsProblem } from "../node-termination-handler/options.ts";
import { type HostedParts, type HostedProgram, hosted, type SharedSettings } from "./hosted.ts";

const servedByProcess = "health and metrics are on its --secure-port";
const mode = "cluster reads the queue, node the metadata service";

/** What a process has once, under other names. */
const replaced: Readonly<Partial<Record<keyof Options, string>>> = {
  "enable-sqs-termination-draining": mode,
  "kubernetes-service-host": "give --master or --kubeconfig",
  "kubernetes-service-port": "give --master or --kubeconfig",
  "metadata-url": "set AWS_EC2_METADATA_SERVICE_ENDPOINT in its environment",
  "aws-endpoint": "give a ServiceOverride in the file of --cloud-config",
  "webhook-proxy": "set HTTPS_PROXY and NO_PROXY in its environment",
  "json-logging": "give --logging-format",
  "log-level": "give --v",
  "enable-prometheus-server": servedByProcess,
  "prometheus-server-port": servedByProcess,
  "enable-probes-server": servedByProcess,
  "probes-server-port": servedByProcess,
  "probes-server-endpoint": servedByProcess,
};

/** Reads the queue, for all nodes of the cluster. */
export const hostedQueueHandler: HostedProgram = row(
  "for all nodes, from a queue",
  ["--enable-sqs-termination-draining"],
  (options, shared) =>
    entry(async (context) => {
      // Whatever it received, the one in charge would not see, and a dry run may not give it back.
      if (options["dry-run"]) return { kind: "skip", why: "a dry run beside others must not take messages from their queue" };
      const [{ queueHandler }, { Holders, leaderHolder }, { regionOf }] = await Promise.all([
        import("../node-termination-handler/handler.ts"),
        import("../../interruptions/holders.ts"),
        import("../node-termination-handler/surroundings.ts"),
      ]);
      const nodes = context.informers.shared(nodeInformer);
      const cloud = context.clouds.in(regionOf(options));
      // Of its own kind no other writes while it leads, but handlers of their own may, wherever they run.
      const identity = { me: leaderHolder(context.home), holders: new Holders(context.kube) };
      const { controller, problem } = await queueHandler(partsOf(options, shared, context, nodes), cloud, identity);
      return { kind: "run", controllers: [{ controller }], problem };
    }),
);

/** Asks the metadata service, for the node that the process runs on. */
export const hostedMetadataHandler: HostedProgram = row("for its own node, from the metadata service", [], (options, shared) => {
  const node = options["node-name"];
  if (node === "")
    throw new ConfigurationFailed("node-termination-handler: the name of the node is needed, in NODE_NAME of the environment");
  // One key, however often the handler is made.
  const ownNode = { name: "node", make: (client: KubeClient) => nodeInformer.makeFor(client, node) };
  return entry(async (context) => {
    const { metadataHandler } = await import("../node-termination-handler/handler.ts");
    const nodes = context.informers.shared(ownNode);
    const { controller, problem } = await metadataHandler(partsOf(options, shared, context, nodes), context.clouds.metadata, node);
    return { kind: "run", controllers: [{ controller }], problem };
  });
});

function row(how: string, implied: readonly string[], make: (options: Options, shared: SharedSettings) => ControllerEntry): HostedProgram {
  return hosted({
    summary: `Nodes whose instance is about to be interrupted, ${how}; in place of aws-node-termination-handler`,
    flags: flagTable,
    sections: flagSections,
    implied,
    leaseFlags: [],
    replaced,
    check(options: FlagValues<typeof flagTable>) {
      // The name of the node comes from the environment.
      const problem = optionsProblem({ ...currentNames(options), "node-name": "known" });
      if (problem !== undefined) throw new OptionsInvalid([problem]);
      return [];
    },
    async configure(given, shared): Promise<HostedParts> {
      const options = fromEnvironment(completeHeartbeats(currentNames(given)), shared.host.world.environment);
      const controllers = [make(options, shared)];
      return {
        program: { component: "node-termination-handler", controllers, migrated: [], startIntervalMs: 0 },
        leases: [],
        configuration: { "node-termination-handler": withoutSecrets(options) },
      };
    },
  });
}

/** What differs from pod to pod, or is secret, is in the environment and not in the file. */
function fromEnvironment(options: Options, environment: Readonly<Record<string, string | undefined>>): Options {
  return {
    ...options,
    "node-name": options["node-name"] || (environment.NODE_NAME ?? ""),
    "pod-name": options["pod-name"] || (environment.POD_NAME ?? ""),
    "pod-namespace": options["pod-namespace"] || (environment.NAMESPACE ?? ""),
    "webhook-url": options["webhook-url"] || (environment.WEBHOOK_URL ?? ""),
  };
}

function entry(make: (context: ProcessContext) => Promise<Enabled>): ControllerEntry {
  return {
    name: "interruptions",
    client: "node-termination-handler",
    eventSource: "aws-node-termination-handler",
    metric: "interruptions",
    queue: "interruptions",
    make,
  };
}

function partsOf(
  options: Options,
  { network }: SharedSettings,
  { host, kube, recorder }: ProcessContext,
  nodes: ReturnType<typeof nodeInformer.make>,
) {
  return { options, host, kube, recorder, nodes, webhook: network.aws };
}

function withoutSecrets(options: Options): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !flagTable[name as keyof Options].secret));
}
