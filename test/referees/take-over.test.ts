/** Load balancers that the reference has made are taken over without a single change, and handed back the same way. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { controllerTable } from "../../src/commands/controller-manager/controller-table.ts";
import { services } from "../../src/kube/builtin.ts";
import { compareSnapshots } from "../../src/sandbox/cloud/controls/compare.ts";
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
  test(`the reference's load balancers change hands${mode}, and back, and nothing changes`, async (t) => {
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
    for (const service of [...wanted.slice(0, 4), { ...local!, spec }]) await judged.cluster.admin.create(services, service);
    const names = wanted.map(({ metadata }) => metadata?.name ?? "");
    await allPublished(judged, names);
    await quiet(judged);
    await judged.stop();

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
    await ours.stop();

    await judged.start();
    await quiet(judged);
    await quiet(judged);
    const differences = compareSnapshots(made, judged.cloud.controls.snapshot()).filter(({ table }) => !/targets|instances/.test(table));
    assert.deepEqual(differences.map(stable).filter(Boolean), [], "handed back as it was");
    await judged.stop();

    const again = await runControllers(judged.cluster, `cleaning-up${mode.replaceAll(" ", "-")}`, serviceTable, {
      flags: [`--cloud-config=${judged.configFile}`],
      aws: judged.cloud.handle,
    });
    t.after(() => again.stop().catch(() => {}));
    for (const name of names) await judged.cluster.admin.delete(services, { namespace: "default", name });
    await eventually(async () => {
      const { items } = await judged.cluster.admin.list(services, { namespace: "default" });
      assert.deepEqual(
        items.filter(({ metadata }) => names.includes(metadata.name)).map(({ metadata }) => metadata.name),
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

async function allPublished({ cluster, errors }: ReferenceCluster, names: readonly string[]): Promise<void> {
  await eventually(async () => {
    const { items } = await cluster.admin.list(services, { namespace: "default" });
    for (const name of names) {
      const service = items.find(({ metadata }) => metadata.name === name);
      assert.ok(service?.status?.loadBalancer?.ingress?.[0]?.hostname, `${name}: ${(await errors()).slice(-3).join("\n")}`);
    }
  }, PATIENCE_MS);
}

/** Resolves when nobody has asked anything about load balancers for a while. */
async function quiet(judged: ReferenceCluster): Promise<void> {
  let last = -1;
  let same = 0;
  await eventually(() => {
    const now = readsOf(judged);
    same = now === last ? same + 1 : 0;
    last = now;
    assert.ok(same > 120, "somebody still asks");
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
