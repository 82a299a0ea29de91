/** The webhooks of the load balancer controller on a real API server, under the roles and configurations that the chart ships. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { Clouds } from "../../src/aws/cloud.ts";
import { createTargetGroup } from "../../src/aws/elbv2-actions.ts";
import { noSettings } from "../../src/aws/settings.ts";
import { namespaces, pods, secrets, services } from "../../src/kube/builtin.ts";
import { isApiError } from "../../src/kube/errors.ts";
import { type KubeObject, resource } from "../../src/kube/resource.ts";
import type { ClusterRole } from "../../src/kube/types.ts";
import {
  type ConfiguredWebhook,
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
} from "../../src/loadbalancers/admission/configurations.ts";
import { ingresses } from "../../src/loadbalancers/ingress/seen.ts";
import { type BindingSpec, targetGroupBindings } from "../../src/loadbalancers/targets/binding.ts";
import { targetGroupBindingDefinition } from "../../src/loadbalancers/targets/crd.ts";
import { openGate } from "../../src/runtime/gate.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { type Bed, bed, eventually, testHost } from "../bed/bed.ts";
import { freePort } from "../bed/free-port.ts";

const environment = { AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: "of-no-worth" };
const region = "us-east-1";
const definitions = resource<typeof targetGroupBindingDefinition>({
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
});

interface Shipped extends KubeObject {
  readonly kind?: string;
  readonly rules?: ClusterRole["rules"];
  readonly webhooks?: readonly (ConfiguredWebhook & { readonly clientConfig: { readonly service: { readonly path: string } } })[];
}

async function shipped(): Promise<readonly Shipped[]> {
  const texts = ["load-balancer-controller.yaml", "load-balancer-webhooks.yaml"].map((file) =>
    readFile(join(import.meta.dirname, "../../deploy/manifests", file), "utf8"),
  );
  return (await Promise.all(texts))
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Shipped))
    .filter(Boolean);
}

/** The chart's configurations, reached at a port of this machine in place of a Service. */
async function install({ cluster }: Bed, objects: readonly Shipped[], port: number): Promise<void> {
  const { admin } = cluster;
  await admin.create(definitions, targetGroupBindingDefinition);
  const secret = objects.find(({ kind }) => kind === "Secret")!;
  await admin.create(secrets, { metadata: { name: secret.metadata!.name!, namespace: "default" } });
  for (const configurations of [mutatingWebhookConfigurations, validatingWebhookConfigurations]) {
    const { metadata, webhooks = [] } = objects.find(({ kind }) => kind === configurations.kind)!;
    const here = webhooks.map((each) => ({ ...each, clientConfig: { url: `https://127.0.0.1:${port}${each.clientConfig.service.path}` } }));
    await admin.create<KubeObject>(configurations, { metadata: { name: metadata!.name! }, webhooks: here } as KubeObject);
  }
  await eventually(async () => assert.ok(await admin.list(targetGroupBindings)));
}

async function account(t: TestContext) {
  const cloud = createCloud({ world: realWorld() });
  const network = standardNetwork(cloud, { clusterId: "test" });
  const served = await serve(cloud);
  t.after(() => served.close());
  const host = { ...testHost(), world: { ...realWorld(), environment } };
  const user = new Clouds({ host, transport: cloud.handle, gate: openGate(), settings: { ...noSettings, region }, version: "test" }).in(
    region,
  );
  const ask = { cause: "user", signal: new AbortController().signal };
  const made = await user.call(
    createTargetGroup,
    { Name: "shop-web", TargetType: "ip", Protocol: "HTTP", Port: 80, VpcId: network.vpcId },
    ask,
  );
  return { url: served.url, vpc: network.vpcId, arn: made.TargetGroups![0]!.TargetGroupArn! };
}

test("webhooks make and publish their own certificates, fill in and refuse bindings, give pods their gates, and fail open", async (t) => {
  const lain = await bed(t);
  const { cluster, fairlead } = lain;
  const { admin } = cluster;
  const objects = await shipped();
  const port = await freePort();
  await install(lain, objects, port);
  const { url, vpc, arn } = await account(t);
  const roles = objects.filter(({ kind }) => kind === "ClusterRole" || kind === "Role").flatMap(({ rules = [] }) => rules);
  const name = objects.find(({ kind }) => kind === "MutatingWebhookConfiguration")!.metadata!.name!;
  const controller = await fairlead(
    [
      "load-balancer-controller",
      `--kubeconfig=${await (await cluster.account("webhooks", ...roles)).kubeconfig()}`,
      "--cluster-name=test",
      `--aws-region=${region}`,
      `--aws-vpc-id=${vpc}`,
      "--leader-election-namespace=default",
      "--metrics-bind-addr=0",
      "--health-probe-bind-addr=0",
      `--webhook-bind-port=${port}`,
      `--webhook-secret=${name}-webhooks`,
      `--webhook-configuration=${name}`,
    ],
    { environment: { ...environment, AWS_ENDPOINT_URL: url } },
  );
  await controller.says(/ValidatingWebhookConfiguration","msg":"published the authority of webhooks/, 60_000);
  await controller.says(/serving securely/, 60_000);

  const shop = (
    await admin.create(namespaces, {
      metadata: { generateName: "shop-", labels: { "elbv2.k8s.aws/pod-readiness-gate-inject": "enabled" } },
    })
  ).metadata.name;
  const bind = (as: string, spec: Partial<BindingSpec>) =>
    admin.create(targetGroupBindings, {
      metadata: { namespace: shop, name: as },
      spec: { serviceRef: { name: "web", port: 80 }, ...spec },
    });
  const named = await eventually(async () => {
    const made = await bind(`web-${Math.floor(performance.now())}`, { targetGroupName: "shop-web" });
    const { targetGroupARN, targetType, ipAddressType, vpcID, targetGroupProtocol } = made.spec!;
    // The API server reads configurations in its own time; what passed before would be the second of its group.
    if (!targetGroupARN) await admin.delete(targetGroupBindings, { namespace: shop, name: made.metadata.name });
    assert.deepEqual([targetGroupARN, targetType, ipAddressType, vpcID, targetGroupProtocol], [arn, "ip", "ipv4", vpc, "HTTP"]);
    return made.metadata.name;
  });
  await assert.rejects(
    bind("second", { targetGroupARN: arn }),
    (error: unknown) => isApiError(error, "forbidden") && /is already bound to following TargetGroupBindings/.test(error.message),
  );
  await assert.rejects(bind("none", { targetGroupName: "nothing" }), /expecting a single targetGroup with query \[nothing\] but got 0/);

  await admin.create(services, { metadata: { namespace: shop, name: "web" }, spec: { selector: { app: "web" }, ports: [{ port: 80 }] } });
  const pod = async (namespace: string, labels: Record<string, string>) => {
    const containers = [{ name: "c", image: "c:1" }];
    const spec = { containers, automountServiceAccountToken: false };
    const made = await admin.create(pods, { metadata: { namespace, generateName: "web-", labels }, spec });
    return (made.spec?.readinessGates ?? []).map(({ conditionType }) => conditionType);
  };
  await eventually(async () => assert.deepEqual(await pod(shop, { app: "web" }), [`target-health.elbv2.k8s.aws/${named}`]));
  assert.deepEqual(await pod(shop, { app: "other" }), []);
  assert.deepEqual(await pod("default", { app: "web" }), [], "its namespace is not labelled");

  const route = (ingressClassName: string) => {
    const backend = { service: { name: "web", port: { number: 80 } } };
    return admin.create(ingresses, { metadata: { namespace: shop, name: "web" }, spec: { ingressClassName, defaultBackend: backend } });
  };
  await assert.rejects(
    route("none"),
    (error: unknown) => isApiError(error, "forbidden") && /IngressClass.networking.k8s.io "none" not found/.test(error.message),
  );

  // The binding's finalizer goes although another admission would refuse it.
  await admin.delete(targetGroupBindings, { namespace: shop, name: named });
  await eventually(async () => {
    const { items } = await admin.list(targetGroupBindings, { namespace: shop });
    assert.ok(!items.some(({ metadata }) => metadata.name === named));
  });
  assert.doesNotMatch(await controller.logs(), /forbidden/i);

  controller.signal("SIGTERM");
  assert.equal((await controller.exit()).code, 0);
  const open = await bind("open", { targetGroupName: "nothing" });
  assert.equal(open.spec?.targetGroupARN, undefined, "nobody answers, and nobody is kept from working");
  assert.deepEqual(await pod(shop, { app: "web" }), []);
});
