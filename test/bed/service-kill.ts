import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { nodes, services } from "../../src/kube/builtin.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { seededRandom } from "../../src/sandbox/seeded-random.ts";
import { accountText, textDifferences } from "./account-text.ts";
import { bed, eventually } from "./bed.ts";

const prefix = "service.beta.kubernetes.io/aws-load-balancer-";
const namespace = "default";
const name = "web";
const phases = ["create", "update", "delete"] as const;
type Phase = (typeof phases)[number];

const kinds = {
  classic: { [`${prefix}proxy-protocol`]: "*", [`${prefix}cross-zone-load-balancing-enabled`]: "true" },
  network: { [`${prefix}type`]: "nlb", [`${prefix}cross-zone-load-balancing-enabled`]: "true" },
} as const;

const ports = [
  { name: "a", port: 80, nodePort: 31080 },
  { name: "b", port: 443, nodePort: 31443 },
];

/** So many moments of each phase are tried. */
const rounds = 6;

/** Mutating calls a phase takes at least, so that the chosen one is always made. */
const callsOf: Readonly<Record<Phase, number>> = { create: 6, update: 3, delete: 2 };

/** Kills the controller manager again and again while it makes, changes and deletes a load balancer of this kind. */
export function testKilled(kind: keyof typeof kinds): void {
  const annotations = kinds[kind];
  test(`kill -9 after any call leaves a ${kind} load balancer that the next process brings to its end`, async (t) => {
    const { cluster, controllerManager } = await bed(t);
    const cloud = createCloud({ world: realWorld(), settings: { speed: 200 } });
    const network = standardNetwork(cloud, { clusterId: "test" });
    for (const { id, zone, privateDnsName } of launchNodes(cloud, network, 2)) {
      cloud.account.ec2.instances.update(id, { state: "running" });
      await cluster.admin.create(nodes, { metadata: { name: privateDnsName }, spec: { providerID: `aws:///${zone}/${id}` } });
    }
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
    const config = join(cluster.real.folder, `kill-${kind}.conf`);
    await writeFile(config, cloudConfig(network, served.url));
    const start = () => controllerManager(["--controllers=service-lb-controller", "--leader-elect=false", `--cloud-config=${config}`]);
    const before = accountText(cloud.controls.snapshot());
    const random = seededRandom(7);
    const made = () => cloud.controls.journal.entries().filter(({ result }) => result === "ok").length;

    const act: Readonly<Record<Phase, () => Promise<unknown>>> = {
      create: () => cluster.admin.create(services, { metadata: { name, namespace, annotations }, spec: { type: "LoadBalancer", ports } }),
      update: () =>
        cluster.admin.patch(
          services,
          { namespace, name },
          {
            merge: {
              metadata: { annotations: { [`${prefix}cross-zone-load-balancing-enabled`]: "false" } },
              spec: { ports: [ports[1], { name: "c", port: 8080, nodePort: 31088 }], loadBalancerSourceRanges: ["10.0.0.0/8"] },
            },
          },
        ),
      delete: () => cluster.admin.delete(services, { namespace, name }),
    };
    const ends: Readonly<Record<Phase, () => Promise<void>>> = {
      create: () => stands([80, 443], "true"),
      update: () => stands([443, 8080], "false"),
      delete: () =>
        eventually(async () => {
          const { items } = await cluster.admin.list(services, { namespace });
          assert.ok(!items.some(({ metadata }) => metadata.name === name));
          assert.deepEqual(textDifferences(accountText(cloud.controls.snapshot()), before), []);
        }, 60_000),
    };
    /** The listeners, the attribute and the targets that were asked for last, and an address. */
    async function stands(wanted: readonly number[], crossZone: string): Promise<void> {
      await eventually(async () => {
        const text = accountText(cloud.controls.snapshot()).join("\n");
        const found = [...text.matchAll(kind === "classic" ? /"port":(\d+),"instanceProtocol"/g : /elbv2\/listeners .*?"port":(\d+)/g)];
        assert.deepEqual(
          found.map(([, port]) => Number(port)).sort((a, b) => a - b),
          wanted,
        );
        assert.ok(text.includes(kind === "classic" ? `"crossZone":${crossZone}` : `"load_balancing.cross_zone.enabled":"${crossZone}"`));
        assert.ok((await cluster.admin.get(services, { namespace, name })).status?.loadBalancer?.ingress?.[0]?.hostname);
      }, 60_000);
    }

    // Whoever has brought a phase to its end is the next to be killed.
    let process = await start();
    for (let round = 1; round <= rounds; round++) {
      for (const phase of phases) {
        await process.serves();
        const from = made();
        const after = 1 + Math.floor(random.number() * callsOf[phase]);
        let killed = false;
        onCall = () => {
          if (killed || made() < from + after) return;
          process.signal("SIGKILL");
          killed = true;
        };
        await act[phase]();
        await eventually(() => assert.ok(killed, `${phase}: ${made() - from} of ${after} calls were made`), 60_000);
        await process.exit();
        process = await start();
        await ends[phase]();
      }
    }
  });
}

function cloudConfig(network: { readonly vpcId: string; readonly privateSubnetIds: readonly string[] }, url: string): string {
  const overrides = ["EC2", "Elastic Load Balancing", "Elastic Load Balancing v2"].flatMap((service, index) => [
    `[ServiceOverride "${index}"]`,
    `Service = ${service}`,
    "Region = us-east-1",
    `URL = ${url}`,
    "SigningRegion = us-east-1",
  ]);
  const global = [
    "Region = us-east-1",
    `VPC = ${network.vpcId}`,
    `SubnetID = ${network.privateSubnetIds[0]}`,
    "KubernetesClusterID = test",
  ];
  return ["[Global]", ...global, ...overrides, ""].join("\n");
}
