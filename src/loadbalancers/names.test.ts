import assert from "node:assert/strict";
import { test } from "node:test";
import { classicSecurityGroupName, loadBalancerName, networkSecurityGroupName, targetGroupName } from "./names.ts";

const service = { namespace: "prod-web", name: "edge-gateway", uid: "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0" };
const port = { servicePort: 443, nodePort: 31443, protocol: "TCP", healthCheckProtocol: "TCP", healthCheckInterval: 30 };

test("a load balancer is named by its Service's UID", () => {
  assert.equal(loadBalancerName(service.uid), "a0f1e2d3c4b5a69788796a5b4c3d2e1f");
  assert.equal(classicSecurityGroupName(loadBalancerName(service.uid)), "k8s-elb-a0f1e2d3c4b5a69788796a5b4c3d2e1f");
});

test("managed security groups and target groups keep the names that running clusters have", () => {
  assert.equal(networkSecurityGroupName("kubernetes", service), "k8s-prodweb-edgegate-f6d62c365a");
  assert.equal(targetGroupName("demo", service, port), "k8s-prodweb-edgegate-e99adf332e");
  assert.equal(
    targetGroupName("demo", service, { ...port, healthCheckProtocol: "HTTP", healthCheckInterval: 10 }),
    "k8s-prodweb-edgegate-92e10cbfa4",
  );
  assert.equal(targetGroupName("demo", service, { ...port, protocol: "TLS" }), "k8s-prodweb-edgegate-6991ff6d99");
});

test("every input changes a target group's name", () => {
  const names = [
    targetGroupName("demo", service, port),
    targetGroupName("other", service, port),
    targetGroupName("demo", { ...service, namespace: "prod" }, port),
    targetGroupName("demo", { ...service, name: "edge" }, port),
    targetGroupName("demo", service, { ...port, servicePort: 80 }),
    targetGroupName("demo", service, { ...port, nodePort: 31444 }),
    targetGroupName("demo", service, { ...port, protocol: "UDP" }),
    targetGroupName("demo", service, { ...port, healthCheckProtocol: "HTTPS" }),
    targetGroupName("demo", service, { ...port, healthCheckInterval: 10 }),
  ];
  assert.equal(new Set(names).size, names.length);
});

test("a name of special characters only leaves empty parts, not an error", () => {
  assert.match(targetGroupName("demo", { namespace: "-.-", name: "---", uid: "u" }, port), /^k8s---[0-9a-f]{10}$/);
});
