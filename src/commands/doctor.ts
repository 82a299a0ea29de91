/** `fairlead doctor`: looks whether a cluster and its account are set up for Fairlead, and changes nothing. */
import { Clouds } from "../aws/cloud.ts";
import { awsSockets } from "../aws/sockets.ts";
import { examine } from "../doctor/examine.ts";
import { type Finding, problem, warning } from "../doctor/finding.ts";
import { observe } from "../doctor/observe.ts";
import type { Feature } from "../doctor/permissions.ts";
import { checkableFeatures } from "../doctor/programs.ts";
import { readOnly } from "../doctor/read-only.ts";
import { asJson, asTable } from "../doctor/report.ts";
import { KubeClient } from "../kube/client.ts";
import { discoverKubeConfig } from "../kube/config/load.ts";
import type { Connect } from "../kube/connections.ts";
import { isApiError } from "../kube/errors.ts";
import { build } from "../process/build.ts";
import { agentOf } from "../process/clients.ts";
import { exitStatus } from "../process/exit.ts";
import { FlagError, type FlagSection, type FlagValues, flag, parseFlags, undecided } from "../runtime/flags.ts";
import { bool, oneOf, string, strings } from "../runtime/flags-kinds.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import { openGate } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import type { Transport } from "../runtime/http.ts";
import { silentLog } from "../runtime/log.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { redactLines } from "../runtime/redact.ts";
import type { World } from "../runtime/world.ts";
import { judgeClass } from "../volumes/judge-class.ts";
import { controllerOptions, usualOptions } from "./balancer-options.ts";
import { clusterFlags, findInstallations, findSettings } from "./cluster-settings.ts";
import type { Command } from "./command.ts";
import { loadCloudConfig } from "./controller-manager/load-cloud-config.ts";
import { failure } from "./failure.ts";

const flags = {
  ...clusterFlags,
  namespace: flag(string, "kube-system", "Namespace of the controllers' service account, where --service-account names none.", {
    shorthand: "n",
  }),
  features: flag(strings, ["nodes", "load-balancers"], `Features to check, of ${checkableFeatures.join(", ")}.`),
  "service-account": undecided(
    string,
    "the chart's for that program",
    "Service account of the program whose features are checked: a name, or namespace/name.",
  ),
  "role-arn": flag(
    string,
    "",
    "The controllers' IAM role, whose permissions IAM's policy simulator is asked for. Empty: the role that the service account is annotated with, else your own.",
  ),
  "queue-url": flag(
    string,
    "",
    "The queue of the termination handler, for the feature interruptions. Empty: it asks the metadata service.",
  ),
  "host-network": flag(bool, true, "Whether the controllers run on the host network."),
  output: flag(oneOf("table", "json"), "table", "Output format.", { shorthand: "o" }),
  "exit-zero": flag(bool, false, "Exit with status 0 whatever is found."),
  help: flag(bool, false, "Print this.", { shorthand: "h" }),
};

const roleArn = /^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/;

/** What the command line asks for. */
export type DoctorOptions = FlagValues<typeof flags>;

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "Doctor", flags }];

/** Runs the command to its exit status. */
export const run: Command = async ({ argv, world, console, stopSignal }) => {
  let options: DoctorOptions;
  try {
    options = parseDoctorFlags(argv);
  } catch (error) {
    return failure("doctor", error, console);
  }
  if (options.help) {
    console.out(`Checks whether a cluster and its AWS account are set up for Fairlead. It changes nothing.\n\n`);
    console.out(`Usage:\n  fairlead doctor [flags]\n\n${flagUsage(sections, console.columns)}`);
    return exitStatus.done;
  }
  const aws = awsSockets(world);
  try {
    const findings = await diagnose(options, world, { aws: aws.send }, stopSignal());
    console.out(redactLines(options.output === "json" ? asJson(findings) : asTable(findings)));
    return options["exit-zero"] || !findings.some(({ level }) => level === "problem") ? exitStatus.done : exitStatus.failed;
  } catch (error) {
    return failure("doctor", error, console);
  } finally {
    await aws.close();
  }
};

/** Reads the command line. */
export function parseDoctorFlags(argv: readonly string[]): DoctorOptions {
  const { values, args } = parseFlags(flags, argv);
  if (args.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(args[0])}`);
  const unknown = values.features.find((name) => !checkableFeatures.some((feature) => feature === name));
  if (unknown !== undefined) throw new FlagError(`--features: ${JSON.stringify(unknown)} is not one of ${checkableFeatures.join(", ")}`);
  if (values["role-arn"] !== "" && !roleArn.test(values["role-arn"])) {
    throw new FlagError(
      `--role-arn: ${JSON.stringify(values["role-arn"])} is not the ARN of a role, as in arn:aws:iam::123456789012:role/NAME`,
    );
  }
  if (values["queue-url"] !== "" && !URL.canParse(values["queue-url"])) {
    throw new FlagError(`--queue-url: ${JSON.stringify(values["queue-url"])} is not the URL of a queue`);
  }
  if (!/^([^/]+\/)?[^/]+$/.test(values["service-account"] ?? "usual"))
    throw new FlagError("--service-account must be a name or namespace/name");
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
    const access = await discoverKubeConfig(world, { kubeconfig: options.kubeconfig, context: options.context });
    const client = new KubeClient({ host, config: access, gate: openGate(), userAgent: agentOf("doctor"), connect: network.kube });
    kube = client;
    const given = { "cloud-config": options["cloud-config"], "strict-cloud-config": false };
    const { config, notes } = await findSettings(host, client, given, signal).catch(async (error: unknown) => {
      if (!isApiError(error)) throw error;
      // That the API server does not answer is a finding of its own, and no reason not to look at AWS.
      return { config: await loadCloudConfig(host, given), notes: [] };
    });
    const clouds = new Clouds({ host, transport: way.transport, gate: openGate(), settings: config.aws, version: build.version });
    const picture = await observe({
      world,
      kube: client,
      clouds,
      way,
      settings: config.aws,
      features: options.features as readonly Feature[],
      accountOf: ({ account }) => account && accountIn(options, account),
      namespace: accountIn(options, "").split("/")[0] ?? "",
      roleArn: options["role-arn"] || undefined,
      asControllers: !access.fromFile,
      controllers: () => findInstallations(client, signal),
      loadBalancerClass: () => classOf(client, signal),
      judgeClass,
      hostNetwork: options["host-network"],
      queueUrl: options["queue-url"],
      signal,
    });
    return [...notes.map((note) => warning("configuration", note, "fairlead doctor --cloud-config=FILE")), ...examine(picture)];
  } catch (error) {
    signal.throwIfAborted();
    return [problem("configuration", (error as Error).message, "fairlead doctor --help")];
  } finally {
    await kube?.close();
  }
}

/** Of a cluster whose pods may not be read it is taken for the usual one. */
async function classOf(kube: KubeClient, signal: AbortSignal): Promise<string> {
  const clusterName = "unknown";
  const options = await controllerOptions({ kube, ask: { cause: "doctor", signal }, clusterName }).catch((error: unknown) => {
    if (!isApiError(error, "forbidden")) throw error;
    return usualOptions(clusterName);
  });
  return options["load-balancer-class"];
}

/** The given service account, else the chart's for the program. */
function accountIn({ namespace, "service-account": given }: DoctorOptions, usual: string): string {
  const account = given ?? usual;
  return account.includes("/") ? account : `${namespace}/${account}`;
}
