/** What the artifacts are made from: a file, or what the cluster holds of the same. It is checked whole before anything is made. */
import { type Document, LineCounter, parseDocument } from "yaml";
import * as z from "zod";

const name = z.string().min(1);
const cidr = z.string().regex(/^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\/(3[0-2]|[12]?\d)$/);
const strings = z.record(z.string(), z.string());

/** The output of the base infrastructure, `AWSCloudDiscoveryData`. */
const discoveryData = z.strictObject({
  apiVersion: z.enum(["deckhouse.io/v1", "deckhouse.io/v1alpha1"]),
  kind: z.literal("AWSCloudDiscoveryData"),
  keyName: name,
  instances: z.strictObject({
    ami: z.string().regex(/^ami-[a-z0-9]+$/),
    additionalSecurityGroups: z.array(z.string().regex(/^sg-[a-z0-9]+$/)),
    associatePublicIPAddress: z.boolean(),
    iamProfileName: name,
  }),
  loadBalancerSecurityGroup: z.string().regex(/^(sg-[a-z0-9]+)?$/),
  zones: z.array(z.string().regex(/^[a-z]+-[a-z]+-[0-9]+(?:[a-z]|-[a-z]+-[0-9]+[a-z])$/)).min(1),
  zoneToSubnetIdMap: strings.refine((map) => Object.keys(map).length > 0, "must have an entry"),
});

/** `AWSClusterConfiguration`, as far as artifacts are made from it; the rest is the layouts' business. */
const clusterConfiguration = z.looseObject({
  apiVersion: z.enum(["deckhouse.io/v1", "deckhouse.io/v1alpha1"]),
  kind: z.literal("AWSClusterConfiguration"),
  layout: z.enum(["WithoutNAT", "WithNAT", "Standard"]),
  sshPublicKey: z.string(),
  provider: z.strictObject({ providerAccessKeyId: z.string(), providerSecretAccessKey: z.string(), region: name }),
  masterNodeGroup: z.looseObject({ replicas: z.int().min(1), instanceClass: z.looseObject({ instanceType: name, ami: name }) }),
  vpcNetworkCIDR: cidr.optional(),
  nodeNetworkCIDR: cidr.optional(),
  publicNetworkAllowList: z.array(cidr).optional(),
  tags: strings.default({}),
});

const volumeType = z.enum(["gp3", "gp2", "sc1", "st1", "io1", "io2"]);

const provisioned = z.strictObject({
  name,
  type: volumeType,
  iops: z.string().regex(/^\d+$/).optional(),
  iopsPerGB: z.string().regex(/^\d+$/).optional(),
  throughput: z.string().regex(/^\d+$/).optional(),
});

/** An AWSInstanceClass's spec; absent keys stay absent, because the checksum tells them from empty ones. */
const instanceClass = z.strictObject({
  instanceType: z.string(),
  ami: z.string().optional(),
  spot: z.boolean().optional(),
  diskType: z.string().optional(),
  diskSizeGb: z.int().optional(),
  iops: z.union([z.string(), z.int()]).optional(),
  additionalTags: strings.optional(),
  additionalSecurityGroups: z.array(z.string()).optional(),
  capacity: z.looseObject({}).optional(),
});

const nodeGroup = z.strictObject({ name, instanceClass, manualRolloutID: z.string().optional(), zones: z.array(z.string()).optional() });

/** Nothing that a shell or a template could take for its own. */
const download = z.strictObject({
  url: z.string().regex(/^https:\/\/[A-Za-z0-9._~:/?#@!$&()*+,;=%-]+$/, "must be a URL with https"),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits"),
});

/** Scripts that the platform's bashible runs on nodes. */
const bashible = z.strictObject({
  enabled: z.boolean().default(true),
  /** Where nodes fetch the program by which kubelet logs in to ECR; without it images bring it. */
  credentialProvider: z.strictObject({ amd64: download.optional(), arm64: download.optional() }).optional(),
});

/** Two classes of one name would take each other's place for ever. */
function namedOnce(classes: readonly { readonly name: string }[], { addIssue }: z.RefinementCtx): void {
  const names = classes.map((each) => each.name);
  for (const twice of new Set(names.filter((each, index) => names.indexOf(each) !== index))) {
    addIssue({ code: "custom", message: `${twice} is there twice` });
  }
}

/** What users decide. */
const settings = {
  storageClass: z
    .strictObject({ provision: z.array(provisioned).default([]).superRefine(namedOnce), exclude: z.array(z.string()).default([]) })
    .prefault({}),
  /** The class that is the default of the cluster already. */
  defaultStorageClass: z.string().default(""),
  /** The user's choice of it; then the platform marks it, and no class is marked here. */
  defaultClusterStorageClass: z.string().default(""),
  /** Whether the cluster has the snapshot controller. */
  snapshots: z.boolean().default(false),
  bashible: bashible.prefault({}),
};

const shape = z.strictObject({
  clusterUUID: name,
  clusterConfiguration,
  discoveryData,
  ...settings,
  /** What the cluster's Secret d8-cni-configuration holds already, as text by key; it is kept as it is. */
  existingCNI: strings.refine((data) => data.cni !== undefined, "has no key cni").optional(),
  /** For whom machine classes are shown. */
  nodeGroups: z.array(nodeGroup).default([]),
});

export type ArtifactsInput = z.infer<typeof shape>;
export type ArtifactsSettings = Pick<ArtifactsInput, keyof typeof settings>;
export type CredentialProviderSource = NonNullable<z.infer<typeof bashible>["credentialProvider"]>;
export type DiscoveryData = z.infer<typeof discoveryData>;
export type InstanceClassSpec = Partial<z.infer<typeof instanceClass>>;
export type NodeGroupInput = z.infer<typeof nodeGroup>;
export type ProvisionedClass = z.infer<typeof provisioned>;

/** The file cannot be used; every problem is a line. */
export class ArtifactsInputInvalid extends Error {
  override readonly name = "ArtifactsInputInvalid";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/** The names by which the platform's own messages know the two documents. */
const documents: Readonly<Record<string, string>> = {
  discoveryData: "validate cloud-provider-discovery-data.json",
  clusterConfiguration: "validate cloud-provider-cluster-configuration.yaml",
};

/** Reads the file, YAML or JSON. Throws with everything that is wrong with it. */
export function readArtifactsInput(text: string): ArtifactsInput {
  return checkArtifactsInput(parseYaml(text));
}

/** YAML or JSON as a value. */
export function parseYaml(text: string): unknown {
  const document = parseYamlDocument(text);
  try {
    return document.toJS() ?? {};
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new ArtifactsInputInvalid(["it has an alias without an anchor, or aliases that stand for too much"]);
  }
}

/** The same as a document that can be changed. Errors tell the line and never its text, in which there may be keys of the account. */
export function parseYamlDocument(text: string): Document.Parsed {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  if (document.errors.length > 0) {
    throw new ArtifactsInputInvalid(document.errors.map(({ code, pos: [at] }) => `line ${lineCounter.linePos(at).line}: ${code}`));
  }
  return document;
}

/** The whole input. Throws with everything that is wrong with it. */
export function checkArtifactsInput(value: unknown): ArtifactsInput {
  return checked(shape, value);
}

/** The infrastructure's output alone; undefined when it cannot be used, which is told of the whole input. */
export function readDiscoveryData(text: string): DiscoveryData | undefined {
  try {
    return checked(discoveryData, parseYaml(text));
  } catch (error) {
    if (error instanceof ArtifactsInputInvalid) return undefined;
    throw error;
  }
}

/** The settings alone. Throws with everything that is wrong with them. */
export function readSettings(text: string): ArtifactsSettings {
  return checked(z.strictObject(settings), parseYaml(text));
}

function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new ArtifactsInputInvalid(
    read.error.issues.map(({ path: [first = "", ...rest], message }) => {
      const prefix = documents[String(first)];
      return prefix === undefined
        ? `${[first, ...rest].join(".") || "it"}: ${message}`
        : `${prefix}: ${rest.join(".") || "it"}: ${message}`;
    }),
  );
}
