/** What a user has in an account that is judged, and what two controllers have made of it, told apart from names that AWS or a hash chose. */
import assert from "node:assert/strict";
import { ACMClient, RequestCertificateCommand } from "@aws-sdk/client-acm";
import { AllocateAddressCommand, CreateSecurityGroupCommand, EC2Client } from "@aws-sdk/client-ec2";
import {
  CreateTargetGroupCommand,
  type CreateTargetGroupCommandInput,
  CreateTrustStoreCommand,
  ElasticLoadBalancingV2Client,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { CreateWebACLCommand, WAFV2Client } from "@aws-sdk/client-wafv2";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import { compareSnapshots } from "../../src/sandbox/cloud/controls/compare.ts";
import type { JournalEntry } from "../../src/sandbox/cloud/controls/journal.ts";
import type { Network } from "../../src/sandbox/cloud/network.ts";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import type { Snapshot } from "../../src/sandbox/cloud/store.ts";
import { eventually } from "../bed/bed.ts";

/** Makes what a user makes; names begin with the namespace that they are for. */
export function userOf(cloud: Cloud, { vpcId }: Network, namespace: string) {
  const elbv2 = new ElasticLoadBalancingV2Client(sdkConfig(cloud));
  const ec2 = new EC2Client(sdkConfig(cloud));
  return {
    async certificate(DomainName: string, ...more: string[]): Promise<string> {
      const input = { DomainName, SubjectAlternativeNames: [DomainName, ...more], ValidationMethod: "DNS" as const };
      return (await new ACMClient(sdkConfig(cloud)).send(new RequestCertificateCommand(input))).CertificateArn!;
    },
    async securityGroup(name: string): Promise<string> {
      const GroupName = `${namespace}-${name}`;
      const TagSpecifications = [{ ResourceType: "security-group" as const, Tags: [{ Key: "Name", Value: GroupName }] }];
      const input = { GroupName, Description: "of the user", VpcId: vpcId, TagSpecifications };
      return (await ec2.send(new CreateSecurityGroupCommand(input))).GroupId!;
    },
    async allocation(): Promise<string> {
      return (await ec2.send(new AllocateAddressCommand({ Domain: "vpc" }))).AllocationId!;
    },
    async targetGroup(name: string, more: Partial<CreateTargetGroupCommandInput> = {}): Promise<{ name: string; arn: string }> {
      const input = { Name: `${namespace}-${name}`, Protocol: "HTTP" as const, Port: 80, VpcId: vpcId, TargetType: "ip" as const, ...more };
      const { TargetGroups } = await elbv2.send(new CreateTargetGroupCommand(input));
      return { name: input.Name, arn: TargetGroups![0]!.TargetGroupArn! };
    },
    async trustStore(name: string): Promise<{ name: string; arn: string }> {
      const Name = `${namespace}-${name}`;
      const input = { Name, CaCertificatesBundleS3Bucket: "bundles", CaCertificatesBundleS3Key: "ca.pem" };
      const { TrustStores } = await elbv2.send(new CreateTrustStoreCommand(input));
      return { name: Name, arn: TrustStores![0]!.TrustStoreArn! };
    },
    async webAcl(name: string): Promise<{ name: string; arn: string }> {
      const VisibilityConfig = { SampledRequestsEnabled: false, CloudWatchMetricsEnabled: false, MetricName: "m" };
      const Name = `${namespace}-${name}`;
      const input = { Name, Scope: "REGIONAL" as const, DefaultAction: { Allow: {} }, VisibilityConfig };
      return { name: Name, arn: (await new WAFV2Client(sdkConfig(cloud)).send(new CreateWebACLCommand(input))).Summary!.ARN! };
    },
  };
}

/** Resolves when AWS has issued every certificate and read every bundle. */
export async function settled(cloud: Cloud, patienceMs: number): Promise<void> {
  await eventually(() => {
    cloud.account.time.settle();
    const rows = (table: string) => Object.values(cloud.controls.snapshot()[table] ?? {}) as { status?: string; state?: string }[];
    const waiting = [
      ...rows("acm/certificates").filter(({ status }) => status !== "ISSUED"),
      ...rows("elbv2/trust-stores").filter(({ state }) => state !== "ACTIVE"),
    ];
    assert.deepEqual(waiting, []);
  }, patienceMs);
}

/** What differs from then, health left out. */
export function changes(cloud: Cloud, since: Snapshot): string[] {
  return compareSnapshots(since, cloud.controls.snapshot()).flatMap(({ table, id, change, fields }) => {
    const changed = Object.keys(fields ?? {}).filter((field) => !["state", "verdict", "health", "capacity"].includes(field));
    return change === "changed" && changed.length === 0 ? [] : [`${change} ${table} ${id} ${changed.join(", ")}`];
  });
}

/** Where everything is that a controller makes for a load balancer. */
const tables = [
  "elbv2/load-balancers",
  "elbv2/listeners",
  "elbv2/rules",
  "elbv2/target-groups",
  "ec2/security-groups",
  "ec2/security-group-rules",
];

/** What is in the account that was not there then. */
export function left(cloud: Cloud, before: Snapshot): readonly string[] {
  const after = cloud.controls.snapshot();
  return tables.flatMap((table) =>
    Object.keys(after[table] ?? {})
      .filter((id) => !(id in (before[table] ?? {})))
      .map((id) => `${table} ${id}`),
  );
}

type Row = Readonly<Record<string, unknown>> & { readonly tags?: Readonly<Record<string, string>> };
type Tags = NonNullable<Row["tags"]>;

const rowsOf = (snapshot: Snapshot, table: string) => Object.entries((snapshot[table] ?? {}) as Readonly<Record<string, Row>>);

/** The tag of an owner, and of its part: `shop/web LoadBalancer`. Prefixes are those of a door's tags: `ingress.k8s.aws`. */
const tagOf = (tags: Tags, prefixes: readonly string[], what: "stack" | "resource") =>
  prefixes.map((prefix) => tags[`${prefix}/${what}`]).find((value) => value !== undefined);

/** Writes what AWS's names stand for in their place: `<shop/web LoadBalancer>`. */
export function withNames(snapshot: Snapshot, prefixes: readonly string[]): (text: string) => string {
  // Longer ones first: the ARN of a listener begins as that of its load balancer does.
  const words = tables
    .flatMap((table) => rowsOf(snapshot, table))
    .flatMap(([id, { tags }]) =>
      tags ? [[id, `<${tagOf(tags, prefixes, "stack") ?? tags.Name} ${tagOf(tags, prefixes, "resource")}>`] as const] : [],
    )
    .toSorted(([a], [b]) => b.length - a.length);
  return (text) => words.reduce((now, [id, word]) => now.replaceAll(id, word), text);
}

/** Calls that concern a namespace, each once, without the names that differ between two namespaces alike. */
export function callsFor(cloud: Cloud, namespace: string, calls: readonly JournalEntry[], prefixes: readonly string[]): readonly string[] {
  const named = withNames(cloud.controls.snapshot(), prefixes);
  const clean = anonymous(cloud, namespace, prefixes);
  const own = calls.map(({ action, input }) => `${action} ${JSON.stringify(input)}`).filter((text) => named(text).includes(namespace));
  return [...new Set(own.map(clean))].toSorted();
}

/** Names that AWS chose, what is each one's own, when something was done, and the number of a listener's only action. */
const chosen = [
  "Order",
  "arn",
  "id",
  "dnsName",
  "created",
  "modified",
  "interfaceId",
  "publicIp",
  "allocationId",
  "loadBalancerArn",
  "groupId",
];

/** Takes out of a text what AWS, a hash or the API server chose, and which of two namespaces alike it is about. */
export function anonymous(cloud: Cloud, namespace: string, prefixes: readonly string[]): (text: string) => string {
  const named = withNames(cloud.controls.snapshot(), prefixes);
  return (text) =>
    named(text)
      .replaceAll(namespace, "<namespace>")
      // Of load balancers and groups, unless their author has named them.
      .replaceAll(/-[0-9a-f]{10}(?=")/g, "-<hash>")
      .replaceAll(/(-[0-9a-f]{10})?-[0-9a-f]+(?=[a-z0-9.-]+\.amazonaws\.com")/g, "-<hash>")
      .replaceAll(/"port":"?3[0-2]\d{3}"?/g, '"port":"<node port>"')
      .replaceAll(/\.7[78]"/g, '.7x"')
      .replaceAll(
        /targetgroup\/<namespace>-given\/[0-9a-f]+|certificate\/[0-9a-f-]+|(truststore|webacl)\/<namespace>-\w+\/[0-9a-f-]+/g,
        "<given>",
      )
      .replaceAll(/sg-[0-9a-f]+|eni-[0-9a-f]+|eipalloc-[0-9a-f]+/g, "<given>");
}

/** Everything of a namespace by kind, owner and part, with names of AWS's and of the namespace left out. */
export function stateOf(cloud: Cloud, namespace: string, prefixes: readonly string[]): Readonly<Record<string, unknown>> {
  const snapshot = cloud.controls.snapshot();
  const clean = anonymous(cloud, namespace, prefixes);
  const plain = (value: unknown) => clean(JSON.stringify(value, (key, each) => (chosen.includes(key) ? undefined : each)));
  const isOwn = ({ tags = {} }: Row) => tagOf(tags, prefixes, "stack")?.startsWith(`${namespace}/`) ?? false;
  const keyOf = ({ tags = {} }: Row) => clean(`${tagOf(tags, prefixes, "stack")} ${tagOf(tags, prefixes, "resource")}`);
  const own = tables.flatMap((table) => rowsOf(snapshot, table).flatMap(([id, row]) => (isOwn(row) ? [{ table, id, row }] : [])));
  const keys = new Map(own.map(({ id, row }) => [id, keyOf(row)]));
  const rules = rowsOf(snapshot, "ec2/security-group-rules")
    .filter(([, { groupId }]) => keys.has(String(groupId)))
    .map(([, row]) => `${keys.get(String(row.groupId))} ${row.protocol} ${row.fromPort}-${row.toPort} ${plain(row.peer)}`);
  const guards = ["wafv2/associations", "shield/protections"].flatMap((table) =>
    rowsOf(snapshot, table).flatMap(([, { resourceArn }]) =>
      keys.has(String(resourceArn)) ? [`${table} ${keys.get(String(resourceArn))}`] : [],
    ),
  );
  const targets = Object.groupBy(
    rowsOf(snapshot, "elbv2/targets").flatMap(([, { targetGroupArn }]) => keys.get(String(targetGroupArn)) ?? []),
    (key) => key,
  );
  return {
    ...Object.fromEntries(own.map(({ table, row }) => [`${table} ${keyOf(row)}`, JSON.parse(plain(row))])),
    rules: rules.toSorted(),
    guards: guards.toSorted(),
    targets: Object.fromEntries(Object.entries(targets).map(([key, each]) => [key, each?.length])),
  };
}
