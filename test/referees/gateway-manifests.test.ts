/** What `fairlead migrate` prints, judged by a real API server with the definitions of the Gateway API. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { migrated } from "../../src/commands/migrate/migrate.fixture.ts";
import type { Manifest } from "../../src/commands/migrate/translation.ts";
import { namespaces } from "../../src/kube/builtin.ts";
import { isApiError } from "../../src/kube/errors.ts";
import { type KubeObject, resource } from "../../src/kube/resource.ts";
import { gateways } from "../../src/loadbalancers/gateway/api.ts";
import { bed, eventually } from "../bed/bed.ts";
import { configurationDefinitions } from "../bed/gateway-definitions.ts";
import { installGatewayApi } from "./gateway-cluster.ts";

const plurals: Readonly<Record<string, string>> = {
  Gateway: "gateways",
  HTTPRoute: "httproutes",
  LoadBalancerConfiguration: "loadbalancerconfigurations",
  TargetGroupConfiguration: "targetgroupconfigurations",
  ListenerRuleConfiguration: "listenerruleconfigurations",
};

test("everything that is printed for the tables of Ingresses is taken as it is", { timeout: 300_000 }, async (t) => {
  const { cluster } = await bed(t);
  await installGatewayApi(cluster.admin, configurationDefinitions);
  await eventually(async () => void (await cluster.admin.list(gateways)), 30_000);
  const refused: string[] = [];
  let count = 0;
  for (const [i, [name, { objects }]] of Object.entries(migrated()).entries()) {
    const namespace = `case-${i}`;
    await cluster.admin.create(namespaces, { metadata: { name: namespace } });
    for (const object of objects) {
      const [group = "", version = ""] = object.apiVersion.split("/");
      const of = resource<KubeObject>({ group, version, plural: plurals[object.kind] ?? "", kind: object.kind, namespaced: true });
      const made: Manifest = { ...object, metadata: { ...object.metadata, namespace } };
      await cluster.admin.create(of, made).catch((error: unknown) => {
        if (!isApiError(error)) throw error;
        refused.push(`${name}: ${object.kind} ${object.metadata.name}: ${error.message}`);
      });
      count++;
    }
  }
  t.diagnostic(`${count} objects were created`);
  assert.deepEqual(refused, []);
});
