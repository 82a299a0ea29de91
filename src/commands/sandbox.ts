/** `fairlead sandbox`: a cluster and a cloud on this machine, with Fairlead at work between them. */
import { exitStatus, Stopped } from "../process/exit.ts";
import { FlagError, type FlagSection, type FlagValues, flag, parseFlags } from "../runtime/flags.ts";
import { bool, int32, oneOf } from "../runtime/flags-kinds.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import type { World } from "../runtime/world.ts";
import type { Command, Console } from "./command.ts";
import { failure } from "./failure.ts";

const flags = {
  once: flag(bool, false, "Play a demonstration, check that everything ends as it should, and exit with 0 or 1."),
  cluster: flag(
    oneOf("auto", "embedded", "real"),
    "auto",
    "The Kubernetes API: a small one embedded in the sandbox, or a real etcd and kube-apiserver, which are downloaded or built first if needed. auto: the real one if it is available.",
  ),
  nodes: flag(int32, 5, "Machines to start with, from 2 to 100."),
  "provider-id": flag(bool, false, "Let kubelets know the id of their machine, so that Fairlead need not find it by name."),
  "kubernetes-port": flag(int32, 0, "Port of the embedded Kubernetes API. 0: any free one."),
  "aws-port": flag(int32, 0, "Port of the simulated AWS. 0: any free one."),
  help: flag(bool, false, "Print this.", { shorthand: "h" }),
};

type Options = FlagValues<typeof flags>;

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "Sandbox", flags }];

const introduction = `Fairlead gives a Kubernetes cluster what it needs from AWS: it initialises and
removes nodes, and keeps routes and load balancers. This is its sandbox: a
cluster and an AWS of your own, on this machine. It needs no account.
`;

export const run: Command = async ({ argv, world, console, stopSignal }) => {
  let options: Options;
  try {
    options = parse(argv);
  } catch (error) {
    return failure("sandbox", error, console);
  }
  if (options.help) {
    console.out(`${introduction}\nUsage:\n  fairlead sandbox [flags]\n\n${flagUsage(sections, console.columns)}`);
    return exitStatus.done;
  }
  console.out(`${introduction}\n`);
  const stop = stopSignal();
  try {
    return await inhabit(options, world, console, stop);
  } catch (error) {
    if (stop.aborted) return exitStatus[stop.reason instanceof Stopped ? stop.reason.signal : "SIGINT"];
    return failure("sandbox", error, console);
  }
};

function parse(argv: readonly string[]): Options {
  const { values, args } = parseFlags(flags, argv);
  if (args.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(args[0])}`);
  if (values.nodes < 2 || values.nodes > 100) throw new FlagError(`--nodes must be from 2 to 100, not ${values.nodes}`);
  for (const name of ["kubernetes-port", "aws-port"] as const) {
    if (values[name] < 0 || values[name] > 65_535) throw new FlagError(`--${name} must be from 0 to 65535, not ${values[name]}`);
  }
  return values;
}

/** Builds the sandbox, shows it, and takes it down again. */
async function inhabit(options: Options, world: World, console: Console, stop: AbortSignal): Promise<number> {
  const { startSandbox } = await import("../sandbox/sandbox.ts");
  const building = startSandbox({
    world,
    cluster: options.cluster,
    nodes: options.nodes,
    withProviderId: options["provider-id"],
    ports: { kubernetes: options["kubernetes-port"], aws: options["aws-port"] },
    say: (line) => console.out(`  ${line}\n`),
  });
  // Preparing a real cluster can take minutes. Who interrupts it is let go at once; what was begun ends with this process.
  const sandbox = await Promise.race([building, rejection(stop)]);
  try {
    const watched = console.columns > 0 && world.environment.TERM !== "dumb";
    const audience = {
      print: (text: string) => console.out(text),
      columns: console.columns,
      colour: watched && !world.environment.NO_COLOR,
    };
    if (options.once) {
      const { demonstrate } = await import("../sandbox/demonstration.ts");
      return (await demonstrate(sandbox, audience, stop)) ? exitStatus.done : exitStatus.failed;
    }
    const { file, variables } = sandbox.access;
    const settings = Object.entries(variables).map(([name, value]) => `  export ${name}=${value}\n`);
    console.out(`\nTo use kubectl and the aws command on it, in another terminal:\n\n${settings.join("")}\nor all at once: . ${file}\n\n`);
    const { showLive } = await import("../sandbox/live.ts");
    await showLive(sandbox, watched, audience.print, stop);
    return exitStatus.done;
  } finally {
    await sandbox.close();
    console.out("The sandbox has ended; nothing of it is left.\n");
  }
}

/** Rejects when the signal aborts. */
function rejection(stop: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (stop.aborted) reject(stop.reason);
    else stop.addEventListener("abort", () => reject(stop.reason), { once: true });
  });
}
