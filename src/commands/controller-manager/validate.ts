/** What can be wrong with a command line that could be read: every problem at once, in the reference's order and words. */

import {
  electionProblems,
  headerWarnings,
  loggingProblems,
  OptionsInvalid,
  portProblems,
  securePortProblems,
} from "../../process/flag-problems.ts";
import { goDuration, goQuote } from "../../runtime/flags-go.ts";
import { type Cidr, parseCidr } from "../../runtime/ip.ts";
import { isSelected, selectionProblems } from "./controller-names.ts";
import { gateOpen } from "./feature-gates.ts";
import type { Options } from "./flags.ts";

/** Throws `OptionsInvalid`. Logging comes alone and first: nothing else can be reported well without it. */
export function validateOptions(options: Options): void {
  const logging = loggingProblems(options, gateOpen(options["feature-gates"], "LoggingAlphaOptions"));
  for (const problems of [logging, optionProblems(options)]) {
    if (problems.length > 0) throw new OptionsInvalid(problems);
  }
}

/** What works but probably not as meant. */
export function optionWarnings(options: Options): string[] {
  const warnings = headerWarnings(options);
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

function optionProblems(options: Options): string[] {
  return [
    ...electionProblems(options),
    ...selectionProblems(options.controllers),
    ...workerProblems(options),
    ...periodProblems(options),
    ...routeProblems(options),
    ...securePortProblems(options),
    ...webhookProblems(options.webhooks),
    ...portProblems("webhook-secure-port", options["webhook-secure-port"], ". A value of 0 disables the webhook endpoint entirely."),
    ...portClash(options),
    ...taggingProblems(options),
    ...providerProblems(options["cloud-provider"]),
  ];
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

function portClash(options: Options): string[] {
  const port = options["secure-port"];
  return port !== 0 && port === options["webhook-secure-port"] ? ["--webhook-secure-port cannot be the same value as --secure-port"] : [];
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
