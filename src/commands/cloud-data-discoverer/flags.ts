/** The flags of the discoverer, each with the environment variable that means the same. */
import { OptionsInvalid } from "../../process/flag-problems.ts";
import { defaults, type Flag, FlagError, type FlagSection, type FlagValues, flag, type Kind, parseFlags } from "../../runtime/flags.ts";
import { goDuration, goQuoteList } from "../../runtime/flags-go.ts";
import { bool, duration, int, string } from "../../runtime/flags-kinds.ts";
import { parseListenAddress } from "../../runtime/plain-serving.ts";

interface Variable<T> extends Flag<T> {
  readonly env: string;
}

function of<T>(env: string, kind: Kind<T & {}>, initial: NoInfer<T>, help: string): Variable<T> {
  return { ...flag<T>(kind, initial, `${help} [${env}]`), env };
}

/** All of its flags. */
export const flagTable = {
  "discovery-period": of("DISCOVERY_PERIOD", duration, 3_600_000, "From the start of a cycle to the start of the next."),
  kubeconfig: of("KUBECONFIG", string, "", "Path of a kubeconfig file. Empty: the service account of the pod."),
  "listen-address": of("LISTEN_ADDRESS", string, "127.0.0.1:9000", "Where /metrics and /healthz are served, without TLS."),
  v: of("LOGGER_LEVEL", int, 0, "What is logged: -8 everything, -4 details, 0 what is done, 4 warnings, 8 errors, 12 nothing but the end."),
  help: flag(bool, false, "Print this help.", { shorthand: "h" }),
};

export const flagSections: readonly FlagSection[] = [{ title: "Discovery", flags: flagTable }];

/** What is configured, by the command line and by the environment alone. */
export interface Options extends FlagValues<typeof flagTable> {
  readonly region: string;
  /** The cluster's UUID; empty: nothing is said of its subnets and disks. */
  readonly clusterId: string;
}

/** The command line wins, then the environment, then the defaults. Throws `FlagError` or `OptionsInvalid`. */
export function parseOptions(argv: readonly string[], environment: Readonly<Record<string, string | undefined>>): Options {
  const { values, given, args } = parseFlags(flagTable, argv);
  if (args.some((arg) => arg !== "")) throw new FlagError(`unexpected ${goQuoteList(args)}: there are no arguments`);
  const chosen = { ...defaults(flagTable), ...fromEnvironment(environment), ...pick(values, given) } as FlagValues<typeof flagTable>;
  const options = { ...chosen, region: environment.AWS_REGION ?? "", clusterId: environment.CLUSTER_UUID ?? "" };
  if (!options.help) refuse(options);
  return options;
}

function pick(values: FlagValues<typeof flagTable>, given: ReadonlySet<string>): Partial<FlagValues<typeof flagTable>> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => given.has(name)));
}

function fromEnvironment(environment: Readonly<Record<string, string | undefined>>): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, declared] of Object.entries(flagTable)) {
    const text = "env" in declared ? environment[declared.env] : undefined;
    if (!("env" in declared) || text === undefined || text === "") continue;
    try {
      found[name] = (declared.kind as Kind<unknown & {}>).parse(text, undefined);
    } catch (error) {
      throw new OptionsInvalid([`invalid value ${JSON.stringify(text)} of ${declared.env}: ${(error as Error).message}`]);
    }
  }
  return found;
}

/** What is wrong with the period, wherever it runs. Throws `OptionsInvalid`. */
export function refusePeriod({ "discovery-period": period }: Pick<Options, "discovery-period">): void {
  if (period <= 0) throw new OptionsInvalid([`--discovery-period=${goDuration(period)}: it must be greater than zero`]);
}

function refuse(options: Options): void {
  refusePeriod(options);
  if (parseListenAddress(options["listen-address"]) === undefined)
    throw new OptionsInvalid([`--listen-address=${options["listen-address"]}: it must be host:port`]);
  if (options.region === "") throw new OptionsInvalid(["AWS_REGION not found"]);
}
