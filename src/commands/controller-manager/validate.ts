/** What can be wrong with a command line that could be read: every problem at once, in the reference's order and words. */

import { electionTimings } from "../../process/flags.ts";
import { tlsChoice } from "../../process/secure-port-flags.ts";
import { timingProblems } from "../../runtime/election-timings.ts";
import { goDuration, goQuote } from "../../runtime/flags-go.ts";
import { type Cidr, parseCidr } from "../../runtime/ip.ts";
import { nodeTlsOptions, type TlsChoice } from "../../runtime/tls-options.ts";
import { isSelected, selectionProblems } from "./controller-names.ts";
import { gateOpen } from "./feature-gates.ts";
import type { Options } from "./flags.ts";

/** One or several problems with the options; several are shown as `[e1, e2]`. */
export class OptionsInvalid extends Error {
  override readonly name = "OptionsInvalid";
  constructor(problems: readonly string[]) {
    const distinct = [...new Set(problems)];
    super(distinct.length === 1 ? distinct[0] : `[${distinct.join(", ")}]`);
  }
}

/** Throws `OptionsInvalid`. Logging comes alone and first: nothing else can be reported well without it. */
export function validateOptions(options: Options): void {
  for (const problems of [loggingProblems(options), optionProblems(options)]) {
    if (problems.length > 0) throw new OptionsInvalid(problems);
  }
}

/** What works but probably not as meant. */
export function optionWarnings(options: Options): string[] {
  const standard = {
    "requestheader-username-headers": "X-Remote-User",
    "requestheader-group-headers": "X-Remote-Group",
    "requestheader-uid-headers": "X-Remote-Uid",
  } as const;
  const warnings = Object.entries(standard).flatMap(([name, header]) => {
    const headers = options[name as keyof typeof standard];
    if (headers.length === 0 || headers.some((item) => item.toLowerCase() === header.toLowerCase())) return [];
    return [`--${name} is set without specifying the standard ${header} header - API aggregation will not work`];
  });
  if (options["enable-leader-migration"] && !options["leader-elect"]) {
    warnings.push("--enable-leader-migration has no effect without --leader-elect");
  }
  return warnings;
}

/** Why the route controller does not run although it is selected; undefined when it does. */
export function routesSkipped(options: Options): string | undefined {
  if (!options["configure-cloud-routes"]) return "Will not configure cloud provider routes, --configure-cloud-routes: false";
  if (options["cluster-cidr"].trim() === "") {
    return "Will not configure cloud provider routes: --configure-cloud-routes is on, but --cluster-cidr is empty. Give the pod CIDRs in --cluster-cidr, or say --configure-cloud-routes=false if the network plugin routes pods itself";
  }
  return undefined;
}

/** The pod CIDRs of `--cluster-cidr`. Call after validation. */
export function clusterCidrs(options: Options): Cidr[] {
  return cidrTexts(options).flatMap((text) => parseCidr(text) ?? []);
}

function loggingProblems(options: Options): string[] {
  const problems: string[] = [];
  const format = options["logging-format"];
  if (format !== undefined && format !== "text" && format !== "json") {
    problems.push(`format: Invalid value: ${goQuote(format)}: Unsupported log format`);
  }
  const flush = options["log-flush-frequency"];
  if (flush <= 0) problems.push(`flushFrequency: Invalid value: ${goQuote(goDuration(flush))}: Must be greater than zero`);
  if (!gateOpen(options["feature-gates"], "LoggingAlphaOptions")) {
    const forbidden = (field: string) => `options.text.${field}: Forbidden: Feature LoggingAlphaOptions is disabled`;
    if (options["log-text-split-stream"]) problems.push(forbidden("splitStream"));
    if (options["log-text-info-buffer-size"] !== 0) problems.push(forbidden("infoBufferSize"));
  }
  return problems;
}

function optionProblems(options: Options): string[] {
  return [
    ...electionProblems(options),
    ...selectionProblems(options.controllers),
    ...workerProblems(options),
    ...periodProblems(options),
    ...routeProblems(options),
    ...portProblems("secure-port", options["secure-port"], ". 0 for turning off secure port"),
    ...(options["secure-port"] === 0 ? [] : tlsProblems(options)),
    ...headerProblems(options),
    ...webhookProblems(options.webhooks),
    ...portProblems("webhook-secure-port", options["webhook-secure-port"], ". A value of 0 disables the webhook endpoint entirely."),
    ...portClash(options),
    ...taggingProblems(options),
    ...providerProblems(options["cloud-provider"]),
  ];
}

function electionProblems(options: Options): string[] {
  if (!options["leader-elect"]) return [];
  const lock = options["leader-elect-resource-lock"] === "leases" ? [] : ['resourceLock value must be "leases"'];
  const named = (["leader-elect-resource-name", "leader-elect-resource-namespace"] as const)
    .filter((name) => options[name] === "")
    .map((name) => `--${name} cannot be empty`);
  return [...lock, ...named, ...timingProblems(electionTimings(options))];
}

/** A worker count of 0 would silently mean that nothing is ever done. */
function workerProblems(options: Options): string[] {
  const problems: string[] = [];
  const lifecycle = options["concurrent-node-lifecycle-syncs"] ?? 1;
  if (lifecycle < 1) problems.push(`concurrent-node-lifecycle-syncs must be at least 1, but got ${lifecycle}`);
  for (const name of ["concurrent-node-syncs", "concurrent-service-syncs"] as const) {
    const workers = options[name] ?? 1;
    if (workers < 1) problems.push(`${name} must be a positive number, but got ${workers}`);
  }
  const updates = options["concurrent-node-status-updates"] ?? 0;
  if (updates < 0) problems.push(`concurrent-node-status-updates cannot be a negative number, but got ${updates}`);
  const burst = options["kube-api-burst"] ?? 1;
  if (burst < 1) problems.push(`kube-api-burst must be at least 1, but got ${burst}`);
  return problems;
}

function periodProblems(options: Options): string[] {
  const problems: string[] = [];
  for (const name of ["node-monitor-period", "node-status-update-frequency", "route-reconciliation-period", "min-resync-period"] as const) {
    const period = options[name];
    if (period !== undefined && period <= 0) problems.push(`${name} must be greater than zero, but got ${goDuration(period)}`);
  }
  const interval = options["controller-start-interval"];
  if (interval < 0) problems.push(`controller-start-interval cannot be negative, but got ${goDuration(interval)}`);
  return problems;
}

function routeProblems(options: Options): string[] {
  if (routesSkipped(options) !== undefined || !isSelected("node-route-controller", options.controllers)) return [];
  const texts = cidrTexts(options);
  const unreadable = texts.flatMap((text, index) =>
    parseCidr(text) ? [] : [`--cluster-cidr: invalid CIDR[${index}]: invalid CIDR address: ${text}`],
  );
  if (unreadable.length > 0) return unreadable;
  if (texts.length > 2) return [`--cluster-cidr: length of clusterCIDRs is:${texts.length} more than max allowed of 2`];
  const families = new Set(clusterCidrs(options).map(({ family }) => family));
  if (families.size === texts.length) return [];
  return [
    `--cluster-cidr: len of ClusterCIDRs==${texts.length} and they are not configured as dual stack (at least one from each IPFamily)`,
  ];
}

function cidrTexts(options: Options): string[] {
  return options["cluster-cidr"].split(",").map((text) => text.trim());
}

function portProblems(name: string, port: number, more: string): string[] {
  return port >= 0 && port <= 65535 ? [] : [`--${name} ${port} must be between 0 and 65535, inclusive${more}`];
}

function portClash(options: Options): string[] {
  const port = options["secure-port"];
  return port !== 0 && port === options["webhook-secure-port"] ? ["--webhook-secure-port cannot be the same value as --secure-port"] : [];
}

function tlsProblems(options: Options): string[] {
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

function headerProblems(options: Options): string[] {
  const names = [
    "requestheader-username-headers",
    "requestheader-group-headers",
    "requestheader-extra-headers-prefix",
    "requestheader-allowed-names",
    "requestheader-uid-headers",
  ] as const;
  return names.filter((name) => options[name].some((item) => item.trim() === "")).map((name) => `empty value in "${name}"`);
}

/** There are none to know. */
function webhookProblems(names: readonly string[]): string[] {
  return names.filter((name) => name !== "*").map((name) => `${goQuote(name.replace(/^-/, ""))} is not in the list of known webhooks`);
}

function taggingProblems(options: Options): string[] {
  if (!isSelected("tagging", options.controllers)) return [];
  const problems: string[] = [];
  if (Object.keys(options.tags).length === 0) problems.push("--tags must not be empty and must be a form of key=value");
  if (options.resources.length === 0) problems.push("--resources must not be empty");
  if (options["tagging-controller-rate-limit"] < 0) problems.push("--tagging-controller-rate-limit should not be less than zero");
  if (options["tagging-controller-burst-limit"] < 0) problems.push("--tagging-controller-burst-limit should not be less than zero");
  if ((options["tagging-controller-concurrent-node-syncs"] ?? 1) < 1) {
    problems.push("--tagging-controller-concurrent-node-syncs must be a positive number");
  }
  for (const resource of options.resources) {
    if (resource !== "instance") problems.push(`${resource} is not a supported resource. Current supported resources [instance]`);
  }
  return problems.map((problem) => `Tagging controller inputs are not properly set: ${problem}`);
}

function providerProblems(provider: string): string[] {
  if (provider === "") return ["--cloud-provider cannot be empty"];
  return provider === "aws" ? [] : [`unknown cloud provider ${provider}, only 'aws' is supported`];
}
