import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stored } from "../../kube/resource.ts";
import type { Service, ServiceSpec } from "../../kube/types.ts";
import { serviceState } from "../service-state.ts";
import { cleanupFinalizer, concernsLoadBalancer, otherServer, taskOf } from "./seen.ts";

function service(spec: Partial<ServiceSpec> = {}, metadata: Partial<Stored<Service>["metadata"]> = {}, status: Service["status"] = {}) {
  return serviceState({
    metadata: { name: "web", namespace: "default", uid: "u", resourceVersion: "1", ...metadata },
    spec: { type: "LoadBalancer", ports: [{ port: 80, nodePort: 31080 }], ...spec },
    status,
  });
}

const finalizers = [cleanupFinalizer];
const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const typed = (type: string) => ({ annotations: { "service.beta.kubernetes.io/aws-load-balancer-type": type } });
const others = { finalizers: ["example.com/other"] };
const classed = { loadBalancerClass: "service.k8s.aws/nlb" };

const tasks: readonly (readonly [what: string, of: ReturnType<typeof service>, task: string])[] = [
  ["a load balancer that is wanted", service(), "ensure"],
  ["one that stands", service({}, { finalizers }), "ensure"],
  ["another type", service({ type: "ClusterIP" }), "none"],
  ["another type, guarded", service({ type: "ClusterIP" }, { finalizers }), "clean-up"],
  ["another type, guarded by somebody else", service({ type: "ClusterIP" }, others), "none"],
  ["a deletion", service({}, { ...deleted, finalizers }), "clean-up"],
  ["a deletion that only somebody else holds up", service({}, { ...deleted, ...others }), "none"],
  ["another controller's by annotation", service({}, typed("external")), "leave-to-others"],
  ["its deletion", service({}, { ...typed("nlb-ip"), ...deleted, finalizers }), "clean-up"],
  ["another controller's by class", service(classed), "none"],
  ["another controller's by class, guarded", service(classed, { finalizers }), "leave-to-others"],
  ["its deletion", service(classed, { ...deleted, finalizers }), "clean-up"],
];
for (const [what, of, task] of tasks) test(`what there is to do for ${what}: ${task}`, () => assert.equal(taskOf(of).kind, task));

test("who serves another controller's Service is known by its class or annotation", () => {
  assert.equal(otherServer(service()), undefined);
  assert.match(otherServer(service(classed)) ?? "", /^the AWS Load Balancer Controller, by loadBalancerClass/);
  assert.match(otherServer(service({ loadBalancerClass: "example.com/lb" })) ?? "", /^another controller, .* example.com\/lb$/);
  assert.match(otherServer(service({}, typed("external"))) ?? "", /type: external$/);
});

const changes: Readonly<Record<string, ReturnType<typeof service>>> = {
  "source ranges": service({ loadBalancerSourceRanges: ["10.0.0.0/8"] }),
  "a port's number": service({ ports: [{ port: 81, nodePort: 31080 }] }),
  "a port's name": service({ ports: [{ name: "http", port: 80, nodePort: 31080 }] }),
  "a port's protocol": service({ ports: [{ port: 80, nodePort: 31080, protocol: "UDP" }] }),
  "a node port": service({ ports: [{ port: 80, nodePort: 31081 }] }),
  "a target port": service({ ports: [{ port: 80, nodePort: 31080, targetPort: 8080 }] }),
  "an application protocol": service({ ports: [{ port: 80, nodePort: 31080, appProtocol: "http" }] }),
  "the number of ports": service({
    ports: [
      { port: 80, nodePort: 31080 },
      { port: 81, nodePort: 31081 },
    ],
  }),
  "session affinity": service({ sessionAffinity: "ClientIP" }),
  "its time limit": service({ sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } } }),
  "the address asked for": service({ loadBalancerIP: "1.2.3.4" }),
  "external addresses": service({ externalIPs: ["1.2.3.4"] }),
  "any annotation": service({}, { annotations: { "example.com/x": "y" } }),
  "the UID": service({}, { uid: "v" }),
  "the traffic policy": service({ externalTrafficPolicy: "Local" }),
  "the port of the health check": service({ healthCheckNodePort: 32000 }),
  "the number of address families": service({ ipFamilies: ["IPv4", "IPv6"] }),
  "the type": service({ type: "ClusterIP" }),
};

for (const [what, after] of Object.entries(changes)) {
  test(`a change of ${what} is a reason to look`, () => {
    assert.ok(concernsLoadBalancer(service(), after));
  });
}

test("labels, selectors, finalizers, status and kubectl's copy of the object are none", () => {
  const others = [
    service({ selector: { app: "web" } }, { labels: { a: "b" } }),
    service({}, { finalizers: [cleanupFinalizer] }),
    service({}, {}, { loadBalancer: { ingress: [{ hostname: "x" }] } }),
    service({ internalTrafficPolicy: "Local" }, { annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" } }),
  ];
  for (const after of others) assert.ok(!concernsLoadBalancer(service(), after));
});
