/** The custom resources of the load balancer controller, installed. */
import assert from "node:assert/strict";
import type { KubeClient } from "../../src/kube/client.ts";
import { resource } from "../../src/kube/resource.ts";
import { ingressClassParamsDefinition } from "../../src/loadbalancers/ingress/crd.ts";
import { ingressClassParams } from "../../src/loadbalancers/ingress/seen.ts";
import { targetGroupBindings } from "../../src/loadbalancers/targets/binding.ts";
import { targetGroupBindingDefinition } from "../../src/loadbalancers/targets/crd.ts";
import { eventually } from "./eventually.ts";

const definitions = resource<typeof targetGroupBindingDefinition | typeof ingressClassParamsDefinition>({
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
});

/** Resolves when the API server serves them. */
export async function installDefinitions(client: KubeClient): Promise<void> {
  for (const definition of [targetGroupBindingDefinition, ingressClassParamsDefinition]) await client.create(definitions, definition);
  await eventually(async () => assert.ok((await client.list(targetGroupBindings)) && (await client.list(ingressClassParams))));
}
