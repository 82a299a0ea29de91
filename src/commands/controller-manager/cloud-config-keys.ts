/** The keys of the AWS cloud config file: one table for the reader and for the reference page. */
import { regionOfZone } from "../../aws/regions.ts";
import type { ServiceOverride } from "../../aws/settings.ts";
import { type IniValue, iniBool, iniInt32, iniString } from "../../runtime/ini.ts";

/** A value of NodeIPFamilies. */
export type IpFamily = "ipv4" | "ipv6";

type Text = string | undefined;

/** The values of `[Global]`. */
export interface Global {
  Zone: Text;
  Region: Text;
  VPC: Text;
  SubnetID: Text;
  RouteTableID: Text;
  RoleARN: Text;
  SourceARN: Text;
  KubernetesClusterTag: Text;
  KubernetesClusterID: Text;
  NodeIPFamilies: readonly IpFamily[];
  SupportedTopologyInstanceTypePattern: RegExp;
  DisableSecurityGroupIngress: boolean;
  ElbSecurityGroup: Text;
  PublicNetworkAllowList: Text;
  ClusterServiceLoadBalancerHealthProbeMode: "ServiceNodePort" | "Shared";
  ClusterServiceSharedLoadBalancerHealthProbePort: number;
  ClusterServiceSharedLoadBalancerHealthProbePath: string;
  NLBSecurityGroupMode: "Managed" | undefined;
}

/** One key: how a value is read, what it is when absent, and what the reference page says of it. */
export interface Key<T> {
  readonly type: string;
  readonly initial: T;
  /** The default as the page shows it. */
  readonly shown: string;
  readonly help: string;
  /** Throws with the reason. `before` is what earlier lines made. */
  read(value: IniValue, before: T): T;
  /** What is odd about a value that is accepted all the same, because the reference starts with it. */
  odd?(value: IniValue): string | undefined;
}

const text = (help: string): Key<Text> => ({
  type: "string",
  initial: undefined,
  shown: "",
  help,
  // An empty value is the same as none: it is how templates leave a key out.
  read: (value) => iniString(value).trim() || undefined,
});

/** Every key of `[Global]`. */
export const globalKeys: { readonly [Name in keyof Global]: Key<Global[Name]> } = {
  Zone: {
    ...text("Legacy. An availability zone; its region is used, and Region is ignored."),
    read(value) {
      const zone = iniString(value).trim() || undefined;
      if (zone !== undefined) regionOfZone(zone);
      return zone;
    },
  },
  Region: { ...text("The region to work in."), shown: "`AWS_REGION`, `AWS_DEFAULT_REGION`, else the instance metadata service" },
  VPC: {
    ...text("The cluster's VPC. Together with a cluster ID and SubnetID or RoleARN, nothing is asked of the instance Fairlead runs on."),
    shown: "that of the instance Fairlead runs on",
  },
  SubnetID: {
    ...text("Used for load balancers when no subnet carries the cluster's tags."),
    shown: "that of the instance Fairlead runs on",
  },
  RouteTableID: { ...text("The route tables pod routes are kept in, separated by commas."), shown: "found by the cluster's tags" },
  RoleARN: text("A role to assume for every AWS call."),
  SourceARN: text("Sent as `x-amz-source-arn` when RoleARN is assumed; guards against the confused deputy."),
  KubernetesClusterTag: text("Legacy cluster ID. Switches tagging with `KubernetesCluster` on."),
  KubernetesClusterID: {
    ...text("The cluster ID in `kubernetes.io/cluster/<id>` tags."),
    shown: "from the tags of the instance Fairlead runs on",
  },
  NodeIPFamilies: {
    type: "list",
    initial: [],
    shown: "`ipv4`",
    help: "Address families of nodes in order of preference: `ipv4`, `ipv6`. Repeat the key or separate with commas.",
    read(value, before) {
      if (value === undefined) return [];
      return [...new Set([...before, ...listed(value).filter(isFamily)])];
    },
    odd(value = "") {
      const others = listed(value).filter((family) => !isFamily(family));
      return others.length === 0 ? undefined : `${others.map((family) => JSON.stringify(family)).join(", ")}: must be ipv4 or ipv6`;
    },
  },
  SupportedTopologyInstanceTypePattern: {
    type: "regular expression",
    initial: /^(hpc|trn|p)[0-9]+[a-z]*(-[a-z0-9]+)?(\.[0-9a-z]*)$/,
    shown: "`^(hpc|trn|p)[0-9]+[a-z]*(-[a-z0-9]+)?(\\.[0-9a-z]*)$`",
    help: "Instance types whose network topology must be known before their node counts as initialised. Matched anywhere in the type.",
    read(value, before) {
      const pattern = iniString(value);
      try {
        return pattern === "" ? before : goRegExp(pattern);
      } catch (cause) {
        throw new SyntaxError(`${JSON.stringify(pattern)} is not a regular expression: ${(cause as Error).message}`, { cause });
      }
    },
  },
  DisableSecurityGroupIngress: {
    type: "bool",
    initial: false,
    shown: "`false`",
    help: "Do not open node security groups for load balancers.",
    read: (value) => iniBool(value),
  },
  ElbSecurityGroup: text("A security group for all classic load balancers. Its rules are never edited."),
  PublicNetworkAllowList: text(
    "Networks, separated by commas, that nodes allow for network load balancers of Services without source ranges, instead of everybody.",
  ),
  ClusterServiceLoadBalancerHealthProbeMode: {
    type: "string",
    initial: "ServiceNodePort",
    shown: "`ServiceNodePort`",
    help: "How load balancers of Services with external traffic policy Cluster probe nodes: `ServiceNodePort` or `Shared` (kube-proxy).",
    read: (value) => oneOf(iniString(value) || "ServiceNodePort", ["ServiceNodePort", "Shared"]),
  },
  ClusterServiceSharedLoadBalancerHealthProbePort: {
    type: "int32",
    initial: 10256,
    shown: "`10256`",
    help: "The port of the shared probe.",
    read(value) {
      const port = iniInt32(value);
      if (port < 0 || port > 65535) throw new RangeError(`${port} is not a port: must be between 0 and 65535, 0 for the default`);
      return port === 0 ? 10256 : port;
    },
  },
  ClusterServiceSharedLoadBalancerHealthProbePath: {
    type: "string",
    initial: "/healthz",
    shown: "`/healthz`",
    help: "The path of the shared probe.",
    read: (value) => iniString(value) || "/healthz",
  },
  NLBSecurityGroupMode: {
    type: "string",
    initial: undefined,
    shown: "",
    help: "`Managed`: every Network Load Balancer gets a security group of its own.",
    read(value) {
      const mode = iniString(value);
      if (mode !== "" && mode !== "Managed")
        throw new SyntaxError(`invalid NLB security group mode: ${JSON.stringify(mode)}. Expected: "Managed"`);
      return mode === "Managed" ? mode : undefined;
    },
  },
};

/** Every key of `[ServiceOverride "<id>"]`. */
export const overrideKeys: Readonly<
  Record<string, { readonly field?: keyof ServiceOverride; readonly required: boolean; readonly help: string }>
> = {
  Service: {
    field: "service",
    required: true,
    help: "The service by its SDK ID in any case: `EC2`, `Elastic Load Balancing`, `Elastic Load Balancing v2`, `KMS`, `STS`, `ec2imds`; or by its legacy name (`elasticloadbalancing`).",
  },
  Region: {
    field: "region",
    required: true,
    help: "The override applies when this is the region Fairlead works in. Ignored for `ec2imds`.",
  },
  URL: { field: "url", required: true, help: "The base URL for every operation of the service." },
  SigningRegion: { field: "signingRegion", required: true, help: "The region requests are signed for." },
  SigningName: { field: "signingName", required: false, help: "The service name requests are signed for; the service's own when empty." },
  SigningMethod: { required: false, help: "Accepted for compatibility; has no effect." },
};

function listed(value: string): string[] {
  return value.split(",").map((item) => item.trim());
}

function isFamily(text: string): text is IpFamily {
  return text === "ipv4" || text === "ipv6";
}

function oneOf<const T extends string>(value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new SyntaxError(`invalid value ${JSON.stringify(value)}: must be one of ${allowed.join(", ")}`);
  return found;
}

/**
 * A pattern of Go's. It writes flags for all of it at its beginning, `(?i)`, where JavaScript has them outside, and some
 * things that JavaScript refuses or, worse, reads otherwise: `\A` is the letter there.
 */
function goRegExp(pattern: string): RegExp {
  const [whole, flags] = /^\(\?([ims]+)\)/.exec(pattern) ?? ["", ""];
  const translated = pattern
    .slice(whole.length)
    // In one go: the `\Q` of `\\Q` is none.
    .replace(/\\Q(.*?)(?:\\E|$)|\\.|\(\?P<|\[:\w+:\]/gs, (part, literal?: string) =>
      literal === undefined ? (goSyntax.get(part) ?? part) : RegExp.escape(literal),
    );
  return new RegExp(translated, flags);
}

/** What Go writes and JavaScript writes otherwise. */
const goSyntax: ReadonlyMap<string, string> = new Map([
  ["\\A", "(?<![\\s\\S])"],
  ["\\z", "(?![\\s\\S])"],
  ["(?P<", "(?<"],
  ["[:alpha:]", "A-Za-z"],
  ["[:digit:]", "0-9"],
  ["[:alnum:]", "A-Za-z0-9"],
  ["[:lower:]", "a-z"],
  ["[:upper:]", "A-Z"],
  ["[:word:]", "\\w"],
  ["[:xdigit:]", "0-9A-Fa-f"],
  ["[:space:]", "\\t-\\r "],
  ["[:punct:]", "!-\\/:-@\\[-`{-~"],
  ["[:graph:]", "!-~"],
  ["[:print:]", " -~"],
]);
