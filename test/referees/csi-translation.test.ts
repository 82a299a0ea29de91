/** Kubernetes' own translation of volumes from before CSI as judge of ours: every combination of what such objects may hold. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import type { PersistentVolume, StorageClass, Volume } from "../../src/kube/types.ts";
import { asInTree, translatedClass, translatedInline, translatedVolume } from "../../src/volumes/migration.ts";
import { translationReferee } from "./go-programs.ts";

type Kind = "class" | "volume" | "in-tree" | "inline";

interface Answer {
  readonly error?: string;
  readonly object?: object;
}

async function ask(kind: Kind, objects: readonly object[]): Promise<readonly Answer[]> {
  const asking = promisify(execFile)(await translationReferee(), [], { maxBuffer: 64 * 1024 * 1024 });
  asking.child.stdin?.end(JSON.stringify(objects.map((object) => ({ kind, object }))));
  return JSON.parse((await asking).stdout);
}

/** Every object of the table is translated alike, or refused by both. */
async function agree<T extends object>(kind: Kind, objects: readonly T[], translate: (object: T) => object): Promise<void> {
  const answers = await ask(kind, objects);
  let refused = 0;
  for (const [at, object] of objects.entries()) {
    const { error, object: theirs } = answers[at]!;
    const text = JSON.stringify(object);
    if (error !== undefined) {
      refused++;
      assert.throws(() => translate(object), `Kubernetes refuses ${text}: ${error}`);
    } else assert.deepEqual(plain(translate(object)), plain(theirs!), text);
  }
  assert.ok(refused < objects.length, "something is translated");
}

/** Without what one writes as empty and the other leaves out. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).map(([key, item]) => [key, plain(item)] as const);
  return Object.fromEntries(kept.filter(([, item]) => !isEmpty(item)));
}

function isEmpty(item: unknown): boolean {
  if (item === undefined || item === null) return true;
  return typeof item === "object" && Object.keys(item).length === 0;
}

/** Every combination of one of each. */
function combinations<A, B, C>(first: readonly A[], second: readonly B[], third: readonly C[]): readonly (readonly [A, B, C])[] {
  return first.flatMap((a) => second.flatMap((b) => third.map((c) => [a, b, c] as const)));
}

const zone = "topology.kubernetes.io/zone";
const region = "topology.kubernetes.io/region";
const betaZone = "failure-domain.beta.kubernetes.io/zone";
const betaRegion = "failure-domain.beta.kubernetes.io/region";
const driverZone = "topology.ebs.csi.aws.com/zone";

const term = (...expressions: readonly (readonly [string, ...string[]])[]) => ({
  matchExpressions: expressions.map(([key, ...values]) => ({ key, operator: "In", values })),
});
const affinities = [
  undefined,
  [],
  [{}],
  [term([zone, "us-east-1a"])],
  [term([zone, "us-east-1b", "us-east-1a"], [region, "us-east-1"])],
  [term([betaZone, "us-east-1a"], [betaRegion, "us-east-1"])],
  [term([betaZone, "us-east-1a"]), term([betaZone, "us-east-1b"], ["disk", "fast"])],
  [term([driverZone, "us-west-2a"])],
  [term([driverZone, "us-west-2-lax-1a"])],
  [term([driverZone, "us-gov-east-1a"]), term([driverZone, "us-gov-east-1b"])],
  [term([driverZone, "us-east-1-wl1-bos-wlz-1"])],
  [term([driverZone, "us-east-1a", "eu-west-1a"])],
  [term([driverZone, "nowhere"])],
  [term(["disk", "fast"])],
  [term([zone, "us-east-1a"], [driverZone, "us-east-1a"])],
];
const labels = [
  undefined,
  { [zone]: "us-east-1a", [region]: "us-east-1" },
  { [betaZone]: "us-east-1a", [betaRegion]: "us-east-1" },
  { [zone]: "us-east-1b__us-east-1a__us-east-1b" },
  { [zone]: " __ " },
  { [zone]: "" },
  { [betaZone]: "us-east-1a", [zone]: "us-east-1c", team: "a" },
];
const ids = [
  "vol-0123456789abcdef0",
  "aws://us-east-1a/vol-0123456789abcdef0",
  "aws:///vol-01234567",
  "aws://us-east-1a/vol-1/",
  "aws://us-east-1a//vol-1",
  "aws://us-east-1a/vol-1/more",
  "aws://us-east-1a/vol-%31",
  "aws://us-east-1a/vol-%zz",
  "aws://us-east-1a/vol-1?x=y",
  "aws://vol-1",
  "aws://us-east-1a/disk-1",
  "gce://vol-1",
  "",
];

const volumeOf = (source: object, terms: readonly object[] | undefined, own: object | undefined): PersistentVolume => ({
  metadata: { name: "pv", ...(own && { labels: own as Record<string, string> }) },
  spec: {
    accessModes: ["ReadWriteOnce"],
    capacity: { storage: "10Gi" },
    ...source,
    ...(terms && { nodeAffinity: { required: { nodeSelectorTerms: [...terms] as never } } }),
  },
});

test("PersistentVolumes from before CSI", async () => {
  const sources = [
    ...ids.map((volumeID) => ({ volumeID })),
    { volumeID: "vol-1", fsType: "xfs", partition: 3, readOnly: true },
    { volumeID: "vol-1", partition: 0, readOnly: false },
  ];
  const all = combinations(sources, affinities, labels).map(([source, terms, own]) =>
    volumeOf({ awsElasticBlockStore: source }, terms, own),
  );
  await agree("volume", all, translatedVolume);
});

test("PersistentVolumes that were made for a class from before CSI", async () => {
  const csi = { driver: "ebs.csi.aws.com", volumeHandle: "vol-0123456789abcdef0" };
  const sources = [
    csi,
    { ...csi, fsType: "ext4", readOnly: true, volumeAttributes: { partition: "2" } },
    { ...csi, volumeAttributes: { partition: "0" } },
    { ...csi, volumeAttributes: { partition: "two" } },
  ];
  const all = combinations(sources, affinities, labels).map(([source, terms, own]) => volumeOf({ csi: source }, terms, own));
  await agree("in-tree", all, asInTree);
});

test("volumes of pods from before CSI", async () => {
  const all = ids.map((volumeID): Volume => ({ name: "data", awsElasticBlockStore: { volumeID, fsType: "ext4", partition: 1 } }));
  await agree("inline", all, translatedInline);
});

test("classes from before CSI", async () => {
  const parameters = [
    undefined,
    { type: "gp2", fsType: "xfs" },
    { type: "io1", iopsPerGB: "50", encrypted: "true", kmsKeyId: "key" },
    { IOPSPERGB: "1", FSTYPE: "ext4", Zone: "us-east-1a" },
    { zones: "us-east-1a,us-east-1b" },
    { zones: "us-east-1a, us-east-1b" },
    { zone: "" },
  ];
  const topologies = [
    undefined,
    [],
    [{ matchLabelExpressions: [{ key: betaZone, values: ["us-east-1a"] }] }],
    [
      {
        matchLabelExpressions: [
          { key: zone, values: ["us-east-1a"] },
          { key: "disk", values: ["fast"] },
        ],
      },
      {},
    ],
    [{ matchLabelExpressions: [{ key: driverZone, values: ["us-east-1a"] }] }],
  ];
  const all = combinations(parameters, topologies, [undefined]).map(
    ([own, allowed]): StorageClass => ({
      metadata: { name: "slow" },
      provisioner: "kubernetes.io/aws-ebs",
      ...(own && { parameters: own as unknown as Record<string, string> }),
      ...(allowed && { allowedTopologies: allowed as never }),
    }),
  );
  await agree("class", all, translatedClass);
});
