/** `fairlead doctor`: looks whether a cluster and its account are set up for Fairlead, and changes nothing. */
import { Clouds } from "../aws/cloud.ts";
import { awsSockets } from "../aws/sockets.ts";
import { examine } from "../doctor/examine.ts";
import { type Finding, problem } from "../doctor/finding.ts";
import { observe } from "../doctor/observe.ts";
import type { Feature } from "../doctor/permissions.ts";
import { readOnly } from "../doctor/read-only.ts";
import { asJson, asTable } from "../doctor/report.ts";
import { KubeClient } from "../kube/client.ts";
import { loadKubeConfig } from "../kube/config/load.ts";
import type { Connect } from "../kube/connections.ts";
import { build } from "../process/build.ts";
import { agentOf } from "../process/clients.ts";
import { FlagError, type FlagValues, flag, parseFlags } from "../runtime/flags.ts";
import { bool, string, strings } from "../runtime/flags-kinds.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import { openGate } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import type { Transport } from "../runtime/http.ts";
import { silentLog } from "../runtime/log.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { redact } from "../runtime/redact.ts";
import type { World } from "../runtime/world.ts";
import type { Command } from "./command.ts";
import { loadCloudConfig } from "./controller-manager/load-cloud-config.ts";

const checkable: readonly Feature[] = ["nodes", "load-balancers", "routes", "tagging", "registry"];

const flags = {
  kubeconfig: flag(string, "", "Kubeconfig of whoever looks. Empty: $KUBECONFIG, in a pod its service account, else ~/.kube/config."),
  "cloud-config": flag(string, "", "The AWS cloud config file that the controller manager is given."),
  features: flag(strings, ["nodes", "load-balancers"], `What is to run, of ${checkable.join(", ")}.`),
  "service-account": flag(string, "kube-system/fairlead-controller-manager", "Who the controllers are to the cluster."),
  "host-network": flag(bool, true, "Whether the controllers run on the host network."),
  output: flag(string, "table", "table or json.", { shorthand: "o" }),
  "exit-zero": flag(bool, false, "End with status 0 whatever is found."),
  help: flag(bool, false, "Print this.", { shorthand: "h" }),
};

/** What the command line asks for. */
export type DoctorOptions = FlagValues<typeof flags>;

const exit = { well: 0, problems: 1, usage: 2 } as const;

/** Runs the command to its exit status. */
export const run: Command = async ({ argv, world, console, stopSignal }) => {
  let options: DoctorOptions;
  try {
    options = parseDoctorFlags(argv);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    console.err(`fairlead doctor: ${error.message}\nRun "fairlead doctor --help" for its flags.\n`);
    return exit.usage;
  }
  if (options.help) {
    console.out(`Looks whether a cluster and its AWS account are set up for Fairlead. It changes nothing.\n\n`);
    console.out(`Usage:\n  fairlead doctor [flags]\n\n${flagUsage([{ title: "Doctor", flags }], console.columns)}`);
    return exit.well;
  }
  const aws = awsSockets(world);
  try {
    const findings = await diagnose(options, world, { aws: aws.send }, stopSignal());
    console.out(redact(options.output === "json" ? asJson(findings) : asTable(findings)));
    return options["exit-zero"] || !findings.some(({ level }) => level === "problem") ? exit.well : exit.problems;
  } finally {
    await aws.close();
  }
};

/** Reads the command line. */
export function parseDoctorFlags(argv: readonly string[]): DoctorOptions {
  const { values, args } = parseFlags(flags, argv);
  if (args.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(args[0])}`);
  const unknown = values.features.find((name) => !checkable.some((feature) => feature === name));
  if (unknown !== undefined) throw new FlagError(`--features: ${JSON.stringify(unknown)} is none of ${checkable.join(", ")}`);
  if (values.output !== "table" && values.output !== "json") throw new FlagError(`--output must be table or json, not "${values.output}"`);
  if (!/^[^/]+\/[^/]+$/.test(values["service-account"])) throw new FlagError("--service-account must be namespace/name");
  return values;
}

/** Looks at everything; what keeps it from looking is a finding too. */
export async function diagnose(
  options: DoctorOptions,
  world: World,
  network: { readonly aws: Transport; readonly kube?: Connect },
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const host: Host = { world, log: silentLog, metrics: newRegistry() };
  const way = readOnly(network.aws, world.clock);
  let kube: KubeClient | undefined;
  try {
    const config = await loadCloudConfig(host, { "cloud-config": options["cloud-config"], "strict-cloud-config": false });
    const access = await loadKubeConfig(world, { kubeconfig: kubeconfigOf(options, world) });
    kube = new KubeClient({ host, config: access, gate: openGate(), userAgent: agentOf("doctor"), connect: network.kube });
    const clouds = new Clouds({ host, transport: way.transport, gate: openGate(), settings: config.aws, version: build.version });
    const picture = await observe({
      world,
      kube,
      clouds,
      way,
      settings: config.aws,
      features: options.features as readonly Feature[],
      account: options["service-account"],
      hostNetwork: options["host-network"],
      signal,
    });
    return examine(picture);
  } catch (error) {
    signal.throwIfAborted();
    return [problem("configuration", (error as Error).message, "fairlead doctor --help")];
  } finally {
    await kube?.close();
  }
}

/** Where kubectl would look; in a pod its service account comes before the home folder. */
function kubeconfigOf({ kubeconfig }: DoctorOptions, { environment }: World): string {
  const { KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST, KUBERNETES_MASTER } = environment;
  if (kubeconfig || KUBECONFIG) return kubeconfig || KUBECONFIG!;
  return KUBERNETES_SERVICE_HOST || KUBERNETES_MASTER || !HOME ? "" : `${HOME}/.kube/config`;
}
