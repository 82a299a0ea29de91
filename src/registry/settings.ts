/** What the environment says about this program. Read once; everything further in sees only this. */
import type { SharedProfile } from "../aws/shared-profile.ts";
import { parseDuration } from "./duration.ts";
import type { Service } from "./endpoints.ts";
import { PluginFailure } from "./errors.ts";
import type { ExtraHost } from "./hosts.ts";

export interface Settings {
  readonly timeoutMs: number;
  readonly extraHosts: readonly ExtraHost[];
  readonly roleAnnotations: readonly string[];
  readonly roleArn: string | undefined;
  /** Use the node's credentials when a role that was asked for cannot be had. */
  readonly fallBackToNode: boolean;
  /** Keep logins until this long before they expire; undefined keeps them for half their life. */
  readonly cacheMarginSeconds: number | undefined;
  readonly region: string | undefined;
  readonly maxAttempts: number;
  /** Undefined where the operator left it open and the registry's host may decide. */
  readonly fips: boolean | undefined;
  readonly dualStack: boolean | undefined;
  readonly endpoints: Readonly<Partial<Record<Service, string>>>;
}

/** One row per variable of our own; the documentation and the help text are written from it. */
export const ownVariables = [
  { name: "AWS_ECR_ROLE_ARN", meaning: "role to assume with the pod's token when its service account names none" },
  { name: "ECR_CREDENTIAL_PROVIDER_TIMEOUT", meaning: "time limit of the whole run, at most 48s (default 45s)" },
  { name: "ECR_CREDENTIAL_PROVIDER_EXTRA_HOSTS", meaning: "hosts outside amazonaws.com that ECR serves: glob[=region], comma-separated" },
  { name: "ECR_CREDENTIAL_PROVIDER_FALLBACK", meaning: '"node" uses the node\'s credentials when a wanted role cannot be had' },
  {
    name: "ECR_CREDENTIAL_PROVIDER_ROLE_ANNOTATIONS",
    meaning: "annotation keys that may name the role, in order (default eks.amazonaws.com/ecr-role-arn)",
  },
  { name: "ECR_CREDENTIAL_PROVIDER_CACHE_MARGIN", meaning: "cache until this long before expiry, instead of half the remaining life" },
] as const;

const defaultTimeoutSeconds = 45;
/** Kubelet kills the plugin after 60 s and with it the reason. */
const maxTimeoutSeconds = 48;

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the environment over the shared profile. Throws `PluginFailure` naming the variable that cannot be right. */
export function readSettings(environment: Environment, profile: SharedProfile): Settings {
  const own = (name: (typeof ownVariables)[number]["name"]) => environment[name]?.trim() || undefined;
  const aws = (variable: string, key: string) => environment[variable]?.trim() || profile.values[key];
  return {
    timeoutMs: timeoutMs(own("ECR_CREDENTIAL_PROVIDER_TIMEOUT")),
    extraHosts: extraHosts(own("ECR_CREDENTIAL_PROVIDER_EXTRA_HOSTS")),
    roleAnnotations: list(own("ECR_CREDENTIAL_PROVIDER_ROLE_ANNOTATIONS") ?? "eks.amazonaws.com/ecr-role-arn"),
    roleArn: own("AWS_ECR_ROLE_ARN"),
    fallBackToNode: fallBack(own("ECR_CREDENTIAL_PROVIDER_FALLBACK")),
    cacheMarginSeconds: duration("ECR_CREDENTIAL_PROVIDER_CACHE_MARGIN", own("ECR_CREDENTIAL_PROVIDER_CACHE_MARGIN")),
    region: environment.AWS_REGION?.trim() || aws("AWS_DEFAULT_REGION", "region"),
    maxAttempts: attempts(aws("AWS_MAX_ATTEMPTS", "max_attempts")),
    fips: flag("AWS_USE_FIPS_ENDPOINT", aws("AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint")),
    dualStack: flag("AWS_USE_DUALSTACK_ENDPOINT", aws("AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint")),
    endpoints: endpointOverrides(environment, profile),
  };
}

function timeoutMs(text: string | undefined): number {
  const seconds = duration("ECR_CREDENTIAL_PROVIDER_TIMEOUT", text) ?? defaultTimeoutSeconds;
  if (seconds <= 0) throw bad("ECR_CREDENTIAL_PROVIDER_TIMEOUT", text!, "a duration above zero, such as 30s");
  return Math.min(seconds, maxTimeoutSeconds) * 1000;
}

function duration(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = parseDuration(text);
  if (seconds === undefined) throw bad(name, text, "a duration such as 30s or 15m");
  return seconds;
}

function extraHosts(text: string | undefined): ExtraHost[] {
  return list(text ?? "").map((entry) => {
    const [glob = "", region, ...more] = entry.split("=").map((part) => part.trim());
    // A pattern that takes every host of some length would hand the password to any registry.
    if (more.length > 0 || region === "" || !/[A-Za-z0-9]/.test(glob.split(".").at(-1) ?? "")) {
      throw bad("ECR_CREDENTIAL_PROVIDER_EXTRA_HOSTS", entry, "host globs with an optional =region, whose last part is spelled out");
    }
    return region === undefined ? { glob } : { glob, region };
  });
}

function fallBack(text: string | undefined): boolean {
  if (text === undefined || text === "node") return text === "node";
  throw bad("ECR_CREDENTIAL_PROVIDER_FALLBACK", text, '"node", or nothing');
}

function attempts(text: string | undefined): number {
  if (text === undefined) return 3;
  if (!/^\d{1,3}$/.test(text) || Number(text) === 0) throw bad("AWS_MAX_ATTEMPTS", text, "a whole number above zero");
  return Number(text);
}

function flag(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  const lower = text.toLowerCase();
  if (lower !== "true" && lower !== "false") throw bad(name, text, "true or false");
  return lower === "true";
}

function endpointOverrides(environment: Environment, profile: SharedProfile): Partial<Record<Service, string>> {
  const ignored = environment.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS ?? profile.values.ignore_configured_endpoint_urls;
  if (ignored?.toLowerCase() === "true") return {};
  const overrides: Partial<Record<Service, string>> = {};
  for (const service of ["ecr", "ecr-public", "sts"] as const) {
    const name = service.replace("-", "_");
    const url =
      environment[`AWS_ENDPOINT_URL_${name.toUpperCase()}`] ||
      environment.AWS_ENDPOINT_URL ||
      profile.values[`${name}.endpoint_url`] ||
      profile.values.endpoint_url;
    if (!url) continue;
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) throw bad(`the endpoint of ${service}`, url, "an http:// or https:// URL");
    overrides[service] = url;
  }
  return overrides;
}

function list(text: string): string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

function bad(name: string, value: string, expected: string): PluginFailure {
  return new PluginFailure("BadSettings", `${name} is "${value}": expected ${expected}`);
}
