/**
 * Which hosts are Amazon ECR. One table says it for the plugin and for kubelet's `matchImages`, so that the two cannot
 * disagree.
 */
import { type Partition, partitionOf } from "../aws/partitions.ts";

export type Registry = PrivateRegistry | PublicRegistry;

export interface PrivateRegistry {
  readonly kind: "private";
  /** Undefined for a host the operator vouched for without naming its region. */
  readonly region: string | undefined;
  readonly fips: boolean;
  readonly dualStack: boolean;
}

export interface PublicRegistry {
  readonly kind: "public";
  readonly dualStack: boolean;
}

/** A host outside the table that the operator declared to be a registry served by ECR. */
export interface ExtraHost {
  /** Shell globs within each part between dots, as in kubelet's `matchImages`. */
  readonly glob: string;
  readonly region?: string;
}

interface Suffix {
  readonly suffix: string;
  readonly dualStack: boolean;
  /** Whether AWS serves FIPS registries under it, hence whether kubelet is told to match them. */
  readonly fips: boolean;
}

const suffixes: readonly Suffix[] = [
  { suffix: "amazonaws.com", dualStack: false, fips: true },
  { suffix: "amazonaws.com.cn", dualStack: false, fips: false },
  { suffix: "amazonaws.eu", dualStack: false, fips: true },
  { suffix: "c2s.ic.gov", dualStack: false, fips: false },
  { suffix: "sc2s.sgov.gov", dualStack: false, fips: false },
  { suffix: "cloud.adc-e.uk", dualStack: false, fips: false },
  { suffix: "csp.hci.ic.gov", dualStack: false, fips: false },
  { suffix: "on.aws", dualStack: true, fips: true },
  { suffix: "on.amazonwebservices.com.cn", dualStack: true, fips: false },
];

const publicHosts: readonly { readonly host: string; readonly dualStack: boolean }[] = [
  { host: "public.ecr.aws", dualStack: false },
  { host: "ecr-public.aws.com", dualStack: true },
];

/** The only region ECR Public is in. */
export const publicRegion = "us-east-1";

const privateHost = /^[0-9]{12}\.dkr[.-]ecr(-fips)?\.([a-z0-9][a-z0-9_-]*)\.(.+)$/;

/** What kind of ECR registry a host is; undefined when it is none. Letter case does not matter. */
export function registryAt(host: string, extra: readonly ExtraHost[] = []): Registry | undefined {
  const lower = host.toLowerCase();
  const open = publicHosts.find((entry) => entry.host === lower);
  if (open) return { kind: "public", dualStack: open.dualStack };
  const parts = privateHost.exec(lower);
  const suffix = parts && suffixes.find((entry) => entry.suffix === parts[3]);
  if (suffix) return { kind: "private", region: parts[2]!, fips: parts[1] !== undefined, dualStack: suffix.dualStack };
  const vouched = extra.find((entry) => hostMatches(entry.glob.toLowerCase(), lower));
  return vouched && { kind: "private", region: vouched.region, fips: false, dualStack: false };
}

/** The partition whose roles can pull from a registry. */
export function partitionOfRegistry(registry: Registry): Partition | undefined {
  if (registry.kind === "public") return partitionOf(publicRegion);
  return registry.region === undefined ? undefined : partitionOf(registry.region);
}

/** The patterns kubelet needs to send every ECR image here, and nothing else. */
export function matchImages(): readonly string[] {
  return [
    ...suffixes.flatMap(({ suffix, dualStack, fips }) => {
      const service = dualStack ? "dkr-ecr" : "dkr.ecr";
      return [`*.${service}.*.${suffix}`, ...(fips ? [`*.${service}-fips.*.${suffix}`] : [])];
    }),
    ...publicHosts.map(({ host }) => host),
  ];
}

/** Whether a `matchImages` pattern covers `host[:port]`, by kubelet's rules: equal ports, equally many parts, a glob each. */
export function hostMatches(pattern: string, key: string): boolean {
  const [patternHost, patternPort] = portApart(pattern);
  const [host, port] = portApart(key);
  const globs = patternHost.split(".");
  const parts = host.split(".");
  return patternPort === port && globs.length === parts.length && globs.every((glob, index) => globMatches(glob, parts[index]!));
}

function portApart(key: string): [string, string] {
  const colon = key.lastIndexOf(":");
  return colon < 0 ? [key, ""] : [key.slice(0, colon), key.slice(colon + 1)];
}

/** `*`, `?` and `[a-z]` in one part of a host. Matched by walking, never by a built expression: patterns come from outside. */
function globMatches(glob: string, text: string): boolean {
  if (glob === "") return text === "";
  if (glob[0] === "*") {
    const rest = glob.replace(/^\*+/, "");
    if (rest === "") return true;
    for (let skip = 0; skip <= text.length; skip++) if (globMatches(rest, text.slice(skip))) return true;
    return false;
  }
  if (text === "") return false;
  if (glob[0] === "?") return globMatches(glob.slice(1), text.slice(1));
  if (glob[0] === "[") {
    const close = glob.indexOf("]", 1);
    return close > 0 && inClass(glob.slice(1, close), text[0]!) && globMatches(glob.slice(close + 1), text.slice(1));
  }
  return glob[0] === text[0] && globMatches(glob.slice(1), text.slice(1));
}

function inClass(members: string, character: string): boolean {
  const negated = members.startsWith("^");
  const list = negated ? members.slice(1) : members;
  let found = false;
  for (let index = 0; index < list.length; index++) {
    const upper = list[index + 1] === "-" && index + 2 < list.length ? list[index + 2]! : list[index]!;
    if (character >= list[index]! && character <= upper) found = true;
    if (upper !== list[index]) index += 2;
  }
  return found !== negated;
}
