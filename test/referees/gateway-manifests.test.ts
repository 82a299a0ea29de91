/** What `fairlead migrate` prints, judged by a real API server with the definitions of the Gateway API. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { migrated } from "../../src/commands/migrate/migrate.fixture.ts";
import type { Manifest } from "../../src/commands/migrate/translation.ts";
import { namespaces } from "../../src/kube/builtin.ts";
import { isApiError } from "../../src/kube/errors.ts";
import { apiVersion, type KubeObject, type Resource } from "../../src/kube/resource.ts";
import {
  gateways,
  listenerRuleConfigurations,
  loadBalancerConfigurations,
  routes,
  targetGroupConfigurations,
} from "../../src/loadbalancers/gateway/api.ts";
import { bed, eventually } from "../bed/bed.ts";
import { configurationDefinitions } from "../bed/gateway-definitions.ts";
import { installGatewayApi } from "./gateway-cluster.ts";

const kinds: Readonly<Record<string, Resource<KubeObject>>> = {
  Gateway: gateways,
  HTTPRoute: routes.HTTPRoute,
  LoadBalancerConfiguration: loadBalancerConfigurations,
  TargetGroupConfiguration: targetGroupConfigurations,
  ListenerRuleConfiguration: listenerRuleConfigurations,
};

test("everything that is printed for the tables of Ingresses is taken as it is", { timeout: 300_000 }, async (t) => {
  const { cluster } = await bed(t);
  await installGatewayApi(cluster.admin, configurationDefinitions);
  // A definition is served a moment after it is there, each for itself.
  for (const of of Object.values(kinds)) await eventually(async () => void (await cluster.admin.list(of)), 30_000);
  const refused: string[] = [];
  let count = 0;
  for (const [i, [name, { objects }]] of Object.entries(migrated()).entries()) {
    const namespace = `case-${i}`;
    await cluster.admin.create(namespaces, { metadata: { name: namespace } });
    for (const object of objects) {
      const of = kinds[object.kind];
      assert.ok(of !== undefined && object.apiVersion === apiVersion(of), `${object.apiVersion} ${object.kind}`);
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
