/** What can be wrong with flags that several programs have: every problem at once, in the reference's words. */
import { timingProblems } from "../runtime/election-timings.ts";
import type { FlagValues } from "../runtime/flags.ts";
import { goDuration, goQuote } from "../runtime/flags-go.ts";
import { nodeTlsOptions, type TlsChoice } from "../runtime/tls-options.ts";
import { electionTimings, type globalFlags, type LeaderElectionFlags } from "./flags.ts";
import { type SecurePortFlags, tlsChoice } from "./secure-port-flags.ts";

/** One or several problems with the options; several are shown as `[e1, e2]`. */
export class OptionsInvalid extends Error {
  override readonly name = "OptionsInvalid";
  constructor(problems: readonly string[]) {
    const distinct = [...new Set(problems)];
    super(distinct.length === 1 ? distinct[0] : `[${distinct.join(", ")}]`);
  }
}

/** `alphaOptions`: whether feature gate LoggingAlphaOptions is on. */
export function loggingProblems(options: FlagValues<typeof globalFlags>, alphaOptions: boolean): string[] {
  const problems: string[] = [];
  const format = options["logging-format"];
  if (format !== undefined && format !== "text" && format !== "json") {
    problems.push(`format: Invalid value: ${goQuote(format)}: Unsupported log format`);
  }
  const flush = options["log-flush-frequency"];
  if (flush <= 0) problems.push(`flushFrequency: Invalid value: ${goQuote(goDuration(flush))}: Must be greater than zero`);
  if (!alphaOptions) {
    const forbidden = (field: string) => `options.text.${field}: Forbidden: Feature LoggingAlphaOptions is disabled`;
    if (options["log-text-split-stream"]) problems.push(forbidden("splitStream"));
    if (options["log-text-info-buffer-size"] !== 0) problems.push(forbidden("infoBufferSize"));
  }
  return problems;
}

export function electionProblems(options: LeaderElectionFlags): string[] {
  if (!options["leader-elect"]) return [];
  const lock = options["leader-elect-resource-lock"] === "leases" ? [] : ['resourceLock value must be "leases"'];
  const named = (["leader-elect-resource-name", "leader-elect-resource-namespace"] as const)
    .filter((name) => options[name] === "")
    .map((name) => `--${name} cannot be empty`);
  return [...lock, ...named, ...timingProblems(electionTimings(options))];
}

export function portProblems(name: string, port: number, more: string): string[] {
  return port >= 0 && port <= 65535 ? [] : [`--${name} ${port} must be between 0 and 65535, inclusive${more}`];
}

/** The port, its TLS options and the headers of a front proxy. */
export function securePortProblems(options: SecurePortFlags): string[] {
  return [
    ...portProblems("secure-port", options["secure-port"], ". 0 for turning off secure port"),
    ...(options["secure-port"] === 0 ? [] : tlsProblems(options)),
    ...headerProblems(options),
  ];
}

/** Headers of a front proxy that work but probably not as meant. */
export function headerWarnings(options: SecurePortFlags): string[] {
  const standard = {
    "requestheader-username-headers": "X-Remote-User",
    "requestheader-group-headers": "X-Remote-Group",
    "requestheader-uid-headers": "X-Remote-Uid",
  } as const;
  return Object.entries(standard).flatMap(([name, header]) => {
    const headers = options[name as keyof typeof standard];
    if (headers.length === 0 || headers.some((item) => item.toLowerCase() === header.toLowerCase())) return [];
    return [`--${name} is set without specifying the standard ${header} header - API aggregation will not work`];
  });
}

function tlsProblems(options: SecurePortFlags): string[] {
  const { minVersion, cipherSuites = [], curves = [] } = tlsChoice(options);
  const choices: TlsChoice[] = [
    { minVersion },
    ...cipherSuites.map((suite) => ({ cipherSuites: [suite] })),
    ...curves.map((curve) => ({ curves: [curve] })),
  ];
  const problems = choices.flatMap((choice) => problemOf(() => nodeTlsOptions(choice)));
  if ((options["tls-cert-file"] === "") !== (options["tls-private-key-file"] === "")) {
    problems.push("--tls-cert-file and --tls-private-key-file must be given together");
  }
  return problems;
}

function problemOf(check: () => unknown): string[] {
  try {
    check();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

function headerProblems(options: SecurePortFlags): string[] {
  const names = [
    "requestheader-username-headers",
    "requestheader-group-headers",
    "requestheader-extra-headers-prefix",
    "requestheader-allowed-names",
    "requestheader-uid-headers",
  ] as const;
  return names.filter((name) => options[name].some((item) => item.trim() === "")).map((name) => `empty value in "${name}"`);
}
