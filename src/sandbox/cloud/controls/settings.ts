import type { Statement } from "../access/policy.ts";

/** How the cloud behaves, beyond what AWS always does. Plain data: given at creation, changed in code or over HTTP. */
export interface Settings {
  /** How many times faster than on AWS states change; `Infinity` lets each change be there at the next request. */
  readonly speed: number;
  /** Every answer takes this long, evenly spread between the two. */
  readonly latency: { readonly minMs: number; readonly maxMs: number };
  /** An upper limit to every page, below AWS's own. */
  readonly pageSize: number | undefined;
  /** Token buckets by action pattern (`ec2:Describe*`): all actions that match one pattern share its bucket. */
  readonly buckets: Readonly<Record<string, Bucket>>;
  readonly quotas: Quotas;
  /** Eventual consistency: with this probability a read answers with a state up to this old. */
  readonly staleness: { readonly maxAgeMs: number; readonly probability: number };
  readonly policy: readonly Statement[];
  /** Roles that may be assumed; undefined means any role of the account. */
  readonly trust: readonly Trust[] | undefined;
  /** Certificates of ACM and IAM that listeners may use, as patterns of ARNs. */
  readonly certificates: readonly string[];
  /** Certificates that the account has and load balancers cannot use, for their key or their signature. */
  readonly unsupportedCertificates: readonly string[];
  /** KMS keys that volumes can be encrypted with, as patterns of ARNs, besides the default one; with others a volume appears and vanishes. */
  readonly keys: readonly string[];
  /**
   * How long it takes to validate the names of a public certificate: those in hosted zones of the account once their records stand there,
   * others at once, since there is no DNS to look them up in. Undefined leaves it pending until AWS gives up.
   */
  readonly certificateValidationMs: number | undefined;
  /** How long a new load balancer of the second service takes to become active. */
  readonly provisioningMs: number;
  /**
   * Whether security groups of targets stand in the way of health checks and requests, as on AWS; otherwise only those of load
   * balancers do, and what runs on a machine can be reached.
   */
  readonly guardTargets: boolean;
  /** Whether launches are refused whose instance profile IAM does not have, or has without a role. */
  readonly checkInstanceProfiles: boolean;
  /** How far a request's date may be from the cloud's clock; undefined leaves dates alone. */
  readonly maxSkewMs: number | undefined;
}

/** A token bucket: how many calls at once, and how many a second in the long run. */
export interface Bucket {
  readonly capacity: number;
  readonly refillPerSecond: number;
}

/** A role, and who may take it on. */
export interface Trust {
  readonly roleArn: string;
  /** Patterns of principal ARNs for AssumeRole. */
  readonly principals?: readonly string[];
  /** Issuer, audience and subject patterns for AssumeRoleWithWebIdentity. */
  readonly webIdentity?: { readonly issuer: string; readonly audience: string; readonly subject: string };
  readonly maxSessionSeconds?: number;
}

/** The account's quotas that the services we model can run into, at AWS's defaults. */
export interface Quotas {
  readonly routesPerTable: number;
  readonly rulesPerSecurityGroup: number;
  readonly securityGroupsPerInterface: number;
  readonly securityGroupsPerRegion: number;
  readonly vpcsPerRegion: number;
  readonly subnetsPerVpc: number;
  readonly addresses: number;
  readonly instances: number;
  /** For each type of volume. */
  readonly volumeStorageTiB: number;
  /** For io1 and io2 volumes each. */
  readonly provisionedIops: number;
  /** So many modifications of one volume in so many hours. */
  readonly volumeModifications: number;
  readonly volumeModificationHours: number;
  readonly snapshots: number;
  /** Snapshots with fast restore. */
  readonly fastSnapshotRestores: number;
  readonly classicLoadBalancers: number;
  readonly networkLoadBalancers: number;
  readonly applicationLoadBalancers: number;
  readonly targetGroups: number;
  readonly targetsPerTargetGroup: number;
  readonly listenersPerLoadBalancer: number;
  readonly rulesPerApplicationLoadBalancer: number;
  readonly targetGroupsPerApplicationLoadBalancer: number;
  readonly targetsPerApplicationLoadBalancer: number;
  /** Beside the default ones. */
  readonly certificatesPerLoadBalancer: number;
  readonly trustStores: number;
  readonly namesPerCertificate: number;
}

/** AWS as it is on a good day. */
export const DEFAULT_SETTINGS: Settings = {
  speed: 1,
  latency: { minMs: 0, maxMs: 0 },
  pageSize: undefined,
  buckets: {},
  quotas: {
    routesPerTable: 50,
    rulesPerSecurityGroup: 60,
    securityGroupsPerInterface: 5,
    securityGroupsPerRegion: 2500,
    vpcsPerRegion: 5,
    subnetsPerVpc: 200,
    addresses: 5,
    instances: 100_000,
    volumeStorageTiB: 50,
    provisionedIops: 300_000,
    volumeModifications: 4,
    volumeModificationHours: 24,
    snapshots: 100_000,
    fastSnapshotRestores: 5,
    classicLoadBalancers: 20,
    networkLoadBalancers: 50,
    applicationLoadBalancers: 50,
    targetGroups: 3000,
    targetsPerTargetGroup: 1000,
    listenersPerLoadBalancer: 50,
    rulesPerApplicationLoadBalancer: 100,
    targetGroupsPerApplicationLoadBalancer: 100,
    targetsPerApplicationLoadBalancer: 1000,
    certificatesPerLoadBalancer: 25,
    trustStores: 20,
    namesPerCertificate: 10,
  },
  staleness: { maxAgeMs: 0, probability: 0 },
  policy: [{ effect: "allow", actions: ["*"] }],
  trust: undefined,
  certificates: [],
  unsupportedCertificates: [],
  keys: ["*"],
  certificateValidationMs: 120_000,
  provisioningMs: 120_000,
  guardTargets: false,
  checkInstanceProfiles: false,
  maxSkewMs: undefined,
};
