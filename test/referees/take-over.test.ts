/** Load balancers change hands between the reference and Fairlead without a single change, and neither can tell who made them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { controllerTable } from "../../src/commands/controller-manager/controller-table.ts";
import { events, services } from "../../src/kube/builtin.ts";
import type { Service } from "../../src/kube/types.ts";
import { compareSnapshots } from "../../src/sandbox/cloud/controls/compare.ts";
import type { Snapshot } from "../../src/sandbox/cloud/store.ts";
import { eventually } from "../bed/bed.ts";
import { runControllers } from "../bed/run.ts";
import { loadBalancerService, type ReferenceCluster, referenceCluster } from "./reference-cluster.ts";

/** What the controllers find in their environment, as they would on a machine with keys. */
Object.assign(process.env, {
  AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
  AWS_SECRET_ACCESS_KEY: "of-no-worth",
  AWS_EC2_METADATA_DISABLED: "true",
});

const PATIENCE_MS = 120_000;
const CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/11111111-2222-3333-4444-555555555555";

const classic = {
  "ssl-cert": CERTIFICATE,
  "ssl-ports": "https",
  "ssl-negotiation-policy": "ELBSecurityPolicy-TLS-1-2-2017-01",
  "proxy-protocol": "*",
  "access-log-enabled": "true",
  "access-log-s3-bucket-name": "logs",
  "connection-draining-enabled": "true",
  "connection-idle-timeout": "30",
  "cross-zone-load-balancing-enabled": "true",
  "additional-resource-tags": "team=a",
  "healthcheck-interval": "20",
};
const network = {
  type: "nlb",
  "ssl-cert": CERTIFICATE,
  "ssl-ports": "https",
  "cross-zone-load-balancing-enabled": "true",
  "additional-resource-tags": "team=a",
  "target-group-attributes": "proxy_protocol_v2.enabled=true",
};
const ports = { http: 80, https: 443 };

for (const [mode, config] of [
  ["", []],
  [" with managed groups", ["NLBSecurityGroupMode = Managed"]],
] as const) {
  test(`load balancers change hands${mode}, and back, and nothing changes but who looks at them`, async (t) => {
    const judged = await referenceCluster(t, ...config);
    judged.cloud.controls.change({ certificates: [CERTIFICATE] });
    const before = judged.cloud.controls.snapshot();
    const managed = mode !== "";
    const suffix = managed ? "-managed" : "";
    const wanted = [
      loadBalancerService(`plain${suffix}`),
      loadBalancerService(`full${suffix}`, classic, ports),
      loadBalancerService(`fast${suffix}`, { type: "nlb" }),
      // With a TLS listener and a managed group the reference itself asks EC2 for a protocol called tls, for ever.
      loadBalancerService(`faster${suffix}`, managed ? { ...network, "ssl-cert": "" } : network, ports),
      { ...loadBalancerService(`local${suffix}`, { type: "nlb" }) },
    ];
    const [, , , , local] = wanted;
    const spec = { ...local!.spec, externalTrafficPolicy: "Local", loadBalancerSourceRanges: ["10.0.0.0/8", "192.168.0.0/16"] };
    const created = [...wanted.slice(0, 4), { ...local!, spec }];
    for (const service of created) await judged.cluster.admin.create(services, service);
    const names = wanted.map(({ metadata }) => metadata?.name ?? "");
    await allEnsured(judged, names);
    await quiet(judged);
    await judged.stop();
    const own = await restart(judged, names);

    const made = judged.cloud.controls.snapshot();
    const calls = judged.cloud.controls.journal.entries().length;
    const reads = readsOf(judged) + 10;
    const ours = await runControllers(judged.cluster, `taking-over${mode.replaceAll(" ", "-")}`, serviceTable, {
      flags: [`--cloud-config=${judged.configFile}`],
      aws: judged.cloud.handle,
    });
    t.after(() => ours.stop().catch(() => {}));
    await eventually(() => assert.ok(readsOf(judged) > reads, "it looks at what stands"));
    await quiet(judged);
    assert.deepEqual(
      judged.cloud.controls.journal
        .entries()
        .slice(calls)
        .map(({ action, input }) => ({ action, input })),
      [],
      "taken over without a change",
    );
    assert.deepEqual(changes(judged, made), []);
    const twins = names.map((name) => `${name}-twin`);
    for (const service of created) await judged.cluster.admin.create(services, twinOf(service));
    await allEnsured(judged, twins);
    await quiet(judged);
    await ours.stop();

    const handedBack = judged.cloud.controls.snapshot();
    const again = await restart(judged, [...names, ...twins]);
    assert.deepEqual(changes(judged, handedBack), [], "handed back as it was");
    assert.deepEqual([...new Set(again.shared)].toSorted(), [...new Set(own.shared)].toSorted());
    for (const [index, name] of names.entries()) {
      assert.ok(own.about.get(name)!.length >= 5, `${name} is looked at`);
      assert.deepEqual(again.about.get(name), own.about.get(name), `${name}: the reference does with it what it did before`);
      assert.deepEqual(again.about.get(twins[index]!), own.about.get(name), `${name}: what Fairlead makes is to the reference as its own`);
    }

    const cleaning = await runControllers(judged.cluster, `cleaning-up${mode.replaceAll(" ", "-")}`, serviceTable, {
      flags: [`--cloud-config=${judged.configFile}`],
      aws: judged.cloud.handle,
    });
    t.after(() => cleaning.stop().catch(() => {}));
    const all = [...names, ...twins];
    for (const name of all) await judged.cluster.admin.delete(services, { namespace: "default", name });
    await eventually(async () => {
      const { items } = await judged.cluster.admin.list(services, { namespace: "default" });
      assert.deepEqual(
        items.filter(({ metadata }) => all.includes(metadata.name)).map(({ metadata }) => metadata.name),
        [],
      );
    }, PATIENCE_MS);
    const left = judged.cloud.controls.snapshot();
    for (const table of [
      "elb/load-balancers",
      "elbv2/load-balancers",
      "elbv2/target-groups",
      "ec2/security-groups",
      "ec2/security-group-rules",
    ]) {
      assert.deepEqual(left[table], before[table], table);
    }
  });
}

const serviceTable = { "service-lb-controller": controllerTable["service-lb-controller"] };

/** How often it was said of each Service that its load balancer is as it should be. */
async function ensured({ cluster }: ReferenceCluster): Promise<ReadonlyMap<string, number>> {
  const { items } = await cluster.admin.list(events, { namespace: "default" });
  const said = new Map<string, number>();
  for (const { reason, involvedObject, count = 1 } of items) {
    const name = involvedObject.name ?? "";
    if (reason === "EnsuredLoadBalancer") said.set(name, (said.get(name) ?? 0) + count);
  }
  return said;
}

/** Resolves when it was said of each of these once more than before. */
async function allEnsured(judged: ReferenceCluster, names: readonly string[], before?: ReadonlyMap<string, number>): Promise<void> {
  await eventually(async () => {
    const now = await ensured(judged);
    for (const name of names) {
      const trouble = (await judged.errors()).slice(-3).join("\n");
      assert.ok((now.get(name) ?? 0) > (before?.get(name) ?? 0), `${name} is not yet as it should be: ${trouble}`);
    }
  }, PATIENCE_MS);
}

/** The same Service under another name. */
function twinOf({ metadata, spec }: Service): Service {
  return { metadata: { ...metadata, name: `${metadata?.name}-twin` }, spec };
}

/** What the reference has asked since its last start that has to do with load balancers. */
interface Calls {
  /** By Service, sorted, with words in the place of names and ids. */
  readonly about: ReadonlyMap<string, readonly string[]>;
  /** Those about no Service in particular. */
  readonly shared: readonly string[];
}

/** Starts the reference and lets it look at all of these Services, then ends it. Tells what it has asked. */
async function restart(judged: ReferenceCluster, names: readonly string[]): Promise<Calls> {
  const before = await ensured(judged);
  await judged.start();
  await allEnsured(judged, names, before);
  await quiet(judged);
  await judged.stop();
  return callsOf(judged, names);
}

async function callsOf(judged: ReferenceCluster, names: readonly string[]): Promise<Calls> {
  // What its other controllers ask, at their own pace: nodes and, with no filter, routes.
  const others = /^Action=Describe(Instances|InstanceTopology|AvailabilityZones) |^Action=DescribeRouteTables Version/;
  const calls = judged.calls().filter((call) => !others.test(call));
  const { items } = await judged.cluster.admin.list(services, { namespace: "default" });
  const about = new Map<string, readonly string[]>();
  const known = new Set<string>();
  for (const name of names) {
    const uid = items.find(({ metadata }) => metadata.name === name)?.metadata.uid ?? "";
    const words = wordsFor(judged, name, `a${uid.replaceAll("-", "")}`.slice(0, 32));
    const own = calls.filter((call) => words.some(([id]) => call.includes(id)));
    for (const call of own) known.add(call);
    // Not how often: after a start it goes over some Services once and over others twice, as its queues happen to fill.
    const said = new Set(own.map((call) => words.reduce((text, [id, word]) => text.replaceAll(id, word), call)));
    about.set(name, [...said].toSorted());
  }
  return { about, shared: calls.filter((call) => !known.has(call)) };
}

/** What AWS calls the parts of a Service's load balancer, each with a word for it. Longer ones first: they hold the shorter. */
function wordsFor({ cloud }: ReferenceCluster, service: string, loadBalancer: string): readonly (readonly [string, string])[] {
  const snapshot = cloud.controls.snapshot();
  const rows = (table: string, isOwn: (row: Row, id: string) => boolean) =>
    Object.entries((snapshot[table] ?? {}) as Readonly<Record<string, Row>>).filter(([id, row]) => isOwn(row, id));
  const network = rows("elbv2/load-balancers", ({ name }) => name === loadBalancer);
  const attached = network.flatMap(([, { groupIds = [] }]) => groupIds);
  const groups = rows("ec2/security-groups", ({ name }, id) => name.includes(loadBalancer) || attached.includes(id));
  const word = (text: string) => (row: readonly [string, Row]) => [row[0], text] as const;
  return [
    ...rows("elbv2/listeners", ({ loadBalancerArn = "" }) => loadBalancerArn.includes(`/${loadBalancer}/`)).map(word("<listener>")),
    ...rows("elbv2/target-groups", ({ tags }) => tags[serviceTag] === `default/${service}`).map(word("<target group>")),
    ...network.map(word("<load balancer>")),
    ...groups.map(word("<group>")),
    ...groups.map(([, { name }]) => [name, "<group name>"] as const),
    [loadBalancer, "<name>"],
  ];
}

const serviceTag = "kubernetes.io/service-name";

interface Row {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly loadBalancerArn?: string;
  readonly groupIds?: readonly string[];
}

/** What differs from then, health left out. */
function changes({ cloud }: ReferenceCluster, since: Snapshot): string[] {
  const differences = compareSnapshots(since, cloud.controls.snapshot()).filter(({ table }) => !/targets|instances/.test(table));
  return differences.flatMap((each) => stable(each) ?? []);
}

const QUIET_MS = 4_000;

/** Resolves when nobody has asked anything about load balancers for a while. */
async function quiet(judged: ReferenceCluster): Promise<void> {
  let last = { reads: -1, at: 0 };
  await eventually(() => {
    const reads = readsOf(judged);
    const now = performance.now();
    if (reads !== last.reads) last = { reads, at: now };
    assert.ok(now - last.at > QUIET_MS, "somebody still asks");
  }, PATIENCE_MS);
}

function readsOf({ cloud }: ReferenceCluster): number {
  const counts = Object.entries(cloud.controls.journal.counts()).filter(([action]) => /elasticloadbalancing|SecurityGroup/.test(action));
  return counts.reduce((sum, [, results]) => sum + Object.values(results).reduce((all, n) => all + n, 0), 0);
}

/** A difference, unless it is one that health checks make. */
function stable({ table, id, change, fields }: ReturnType<typeof compareSnapshots>[number]): string | undefined {
  const changed = Object.keys(fields ?? {}).filter((field) => !["state", "instances", "verdict"].includes(field));
  return change === "changed" && changed.length === 0 ? undefined : `${change} ${table} ${id} ${changed.join(", ")}`;
}
