/** kill -9 of the load balancer controller after a call that changes AWS: the next process brings the group to its end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes, services } from "../../src/kube/builtin.ts";
import { ingressClasses, ingresses } from "../../src/loadbalancers/ingress/seen.ts";
import { targetGroupBindings } from "../../src/loadbalancers/targets/binding.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Rule, Target } from "../../src/sandbox/cloud/elbv2/state.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { seededRandom } from "../../src/sandbox/seeded-random.ts";
import { accountText, textDifferences } from "../bed/account-text.ts";
import { bed, eventually } from "../bed/bed.ts";
import { installDefinitions } from "../bed/definitions.ts";
import { keyed, type Rules, rulesOf } from "../bed/ingress-world.ts";
import { endpointFlag, placeFlags } from "../referees/balancer-flags.ts";

const namespace = "default";
const phases = ["create", "update", "delete"] as const;
type Phase = (typeof phases)[number];

/** So many moments of each phase are tried: six in all. */
const rounds = 2;
/** Mutating calls a phase takes at least, so that the chosen one is always made. */
const callsOf: Readonly<Record<Phase, number>> = { create: 9, update: 3, delete: 3 };

const patienceMs = 120_000;
const machines = 2;

/** What each Ingress of the group routes, before and after the change. */
const first: Readonly<Record<string, Rules>> = {
  a: { "a.example.com": ["Prefix / web:80"] },
  b: { "b.example.com": ["Prefix / web:80", "Prefix /api web:80"] },
};
const second: Readonly<Record<string, Rules>> = {
  a: { "a.example.com": ["Prefix /new web:80", "Prefix / web:80"] },
  b: { "c.example.com": ["Prefix / web:http"] },
};

test("kill -9 after any call leaves a group of Ingresses that the next process brings to its end", async (t) => {
  const { cluster, fairlead } = await bed(t);
  const { admin } = cluster;
  await installDefinitions(admin);
  const cloud = createCloud({ world: realWorld(), settings: { speed: 200 } });
  const network = standardNetwork(cloud, { clusterId: "test" });
  for (const { id, zone, privateDnsName } of launchNodes(cloud, network, machines)) {
    cloud.account.ec2.instances.update(id, { state: "running" });
    await admin.create(nodes, { metadata: { name: privateDnsName }, spec: { providerID: `aws:///${zone}/${id}` } });
    await admin.patch(nodes, { name: privateDnsName }, { merge: { spec: { taints: null } } });
    const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }];
    await admin.patch(nodes, { name: privateDnsName, subresource: "status" }, { merge: { status: { conditions } } });
  }
  await admin.create(ingressClasses, { metadata: { name: "alb" }, spec: { controller: "ingress.k8s.aws/alb" } });
  const ports = [{ name: "http", port: 80, targetPort: 8080 }];
  await admin.create(services, { metadata: { name: "web", namespace }, spec: { type: "NodePort", selector: { app: "web" }, ports } });
  const account = await cluster.account("in-charge", { apiGroups: ["*"], resources: ["*"], verbs: ["*"] });

  /** Called after each call that AWS has carried out, before its answer leaves. */
  let onCall = () => {};
  const served = await serve({
    ...cloud,
    handle: async (request) => {
      const answer = await cloud.handle(request);
      onCall();
      return answer;
    },
  });
  t.after(() => served.close());
  const environment = { AWS_ACCESS_KEY_ID: "AKIAKILLED", AWS_SECRET_ACCESS_KEY: "of-no-worth", AWS_EC2_METADATA_DISABLED: "true" };
  const flags = [
    ...placeFlags({ clusterName: "test", region: cloud.account.region, vpc: network.vpcId }),
    "--metrics-bind-addr=0",
    endpointFlag(served.url),
    `--kubeconfig=${await account.kubeconfig()}`,
  ];
  const start = () => fairlead(["load-balancer-controller", ...flags], { environment });
  const before = accountText(cloud.controls.snapshot());
  const made = () => cloud.controls.journal.entries().filter(({ result }) => result === "ok").length;

  const act: Readonly<Record<Phase, () => Promise<unknown>>> = {
    create: async () => {
      for (const [name, rules] of Object.entries(first)) {
        const annotations = keyed({ "group.name": "teams" }) as Record<string, string>;
        const spec = { ingressClassName: "alb", rules: rulesOf(rules) as never };
        await admin.create(ingresses, { metadata: { name, namespace, annotations }, spec });
      }
    },
    update: async () => {
      for (const [name, rules] of Object.entries(second)) {
        const annotations = keyed(name === "a" ? { "group.order": "5" } : { "listen-ports": '[{"HTTP":80},{"HTTP":8080}]' });
        await admin.patch(
          ingresses,
          { namespace, name },
          { merge: { metadata: { annotations }, spec: { rules: rulesOf(rules) as never } } },
        );
      }
    },
    delete: () => Promise.all(Object.keys(first).map((name) => admin.delete(ingresses, { namespace, name }))),
  };
  const ends: Readonly<Record<Phase, () => Promise<void>>> = {
    create: () => stands(["a.example.com /*", "b.example.com /*", "b.example.com /api|/api/*"], 2),
    update: () => stands(["a.example.com /*", "a.example.com /new|/new/*", "c.example.com /*", "c.example.com /*"], 2),
    delete: () =>
      eventually(async () => {
        const left = [
          ...(await admin.list(ingresses, { namespace })).items,
          ...(await admin.list(targetGroupBindings, { namespace })).items,
        ];
        assert.deepEqual(
          left.map(({ metadata }) => metadata.name),
          [],
        );
        assert.deepEqual(textDifferences(accountText(cloud.controls.snapshot()), before), []);
      }, patienceMs),
  };
  /** These rules and no others, each target group with every machine in it, and an address on each Ingress. */
  async function stands(wanted: readonly string[], groups: number): Promise<void> {
    await eventually(async () => {
      const tables = cloud.controls.snapshot();
      const found = (Object.values(tables["elbv2/rules"] ?? {}) as Rule[]).map(({ conditions }) => {
        const host = conditions.flatMap(({ HostHeaderConfig }) => HostHeaderConfig?.Values ?? []);
        const paths = conditions.flatMap(({ PathPatternConfig }) => PathPatternConfig?.Values ?? []);
        return `${host.join()} ${paths.join("|")}`;
      });
      assert.deepEqual(found.toSorted(), wanted.toSorted());
      assert.equal(Object.keys(tables["elbv2/target-groups"] ?? {}).length, groups);
      const targets = (Object.values(tables["elbv2/targets"] ?? {}) as Target[]).filter(({ drainingSince }) => drainingSince === undefined);
      assert.equal(targets.length, groups * machines);
      for (const { metadata, status } of (await admin.list(ingresses, { namespace })).items)
        assert.ok(status?.loadBalancer?.ingress?.[0]?.hostname, metadata.name);
    }, patienceMs);
  }

  // Whoever has brought a phase to its end is the next to be killed.
  const random = seededRandom(11);
  let process = await start();
  for (let round = 1; round <= rounds; round++) {
    for (const phase of phases) {
      const from = made();
      const after = 1 + Math.floor(random.number() * callsOf[phase]);
      let killed = false;
      onCall = () => {
        if (killed || made() < from + after) return;
        process.signal("SIGKILL");
        killed = true;
      };
      await act[phase]();
      await eventually(() => assert.ok(killed, `${phase}: ${made() - from} of ${after} calls were made`), patienceMs);
      await process.exit();
      process = await start();
      await ends[phase]();
    }
  }
});
