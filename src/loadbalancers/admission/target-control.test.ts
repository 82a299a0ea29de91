import assert from "node:assert/strict";
import { test } from "node:test";
import { agentInjection } from "./target-control.ts";

const prefix = "elbv2.k8s.aws/alb-target-control-agent-";
const config = { image: "agent:1", dataAddress: "0.0.0.0:80", controlAddress: "0.0.0.0:3000", destinationAddress: "127.0.0.1:8080" };
const pod = (annotations?: object, containers: readonly object[] = [{ name: "web" }]) => ({
  metadata: annotations ? { annotations } : {},
  spec: { containers },
});

test("the agent stands beside the containers, with what its configuration says", () => {
  assert.deepEqual(agentInjection(pod(), { ...config, resources: { requests: { cpu: "100m" } } }), {
    kind: "allow",
    patch: [
      {
        op: "add",
        path: "/spec/containers/-",
        value: {
          name: "alb-target-control-agent",
          image: "agent:1",
          env: [
            { name: "TARGET_CONTROL_DATA_ADDRESS", value: "0.0.0.0:80" },
            { name: "TARGET_CONTROL_CONTROL_ADDRESS", value: "0.0.0.0:3000" },
            { name: "TARGET_CONTROL_DESTINATION_ADDRESS", value: "127.0.0.1:8080" },
            { name: "TARGET_CONTROL_MAX_CONCURRENCY", value: "1" },
          ],
          ports: [
            { name: "data", containerPort: 80, protocol: "TCP" },
            { name: "control", containerPort: 3000, protocol: "TCP" },
          ],
          resources: { requests: { cpu: "100m" } },
        },
      },
      { op: "add", path: "/metadata/annotations", value: { [`${prefix}injected`]: "true" } },
    ],
  });
});

test("annotations of the pod go before the configuration; amounts that cannot be read are left aside", () => {
  const said = {
    "data-address": "[::]:81",
    "max-concurrency": "20",
    "protocol-version": "GRPC",
    "rust-log": "debug",
    "cpu-limit": "2",
    "memory-request": "much",
  };
  const annotations = Object.fromEntries(Object.entries(said).map(([name, value]) => [prefix + name, value]));
  const text = JSON.stringify(agentInjection(pod(annotations), config));
  for (const part of [
    '{"name":"TARGET_CONTROL_DATA_ADDRESS","value":"[::]:81"}',
    '{"name":"TARGET_CONTROL_MAX_CONCURRENCY","value":"20"}',
    '{"name":"TARGET_CONTROL_PROTOCOL_VERSION","value":"GRPC"}',
    '{"name":"RUST_LOG","value":"debug"}',
    '{"name":"data","containerPort":81,"protocol":"TCP"}',
    '"resources":{"limits":{"cpu":"2"}}',
    '"path":"/metadata/annotations/elbv2.k8s.aws~1alb-target-control-agent-injected"',
  ])
    assert.ok(text.includes(part), `${part} in ${text}`);
});

test("a mistake refuses the pod and says what is allowed; a pod that has the agent is left alone", () => {
  const wrong = (name: string, value: string) => agentInjection(pod({ [prefix + name]: value }), config);
  for (const [name, value, takes] of [
    ["data-address", "localhost:80", /data-address: "localhost:80": it takes IP:port/],
    ["control-address", "10.0.0.1", /it takes IP:port/],
    ["max-concurrency", "1001", /a number from 0 to 1000/],
    ["protocol-version", "HTTP3", /HTTP1, HTTP2, GRPC/],
    ["rust-log", "loud", /debug, info, error/],
  ] as const) {
    const verdict = wrong(name, value);
    assert.equal(verdict.kind, "deny");
    assert.match(JSON.stringify(verdict).replaceAll("\\", ""), takes);
  }
  assert.deepEqual(agentInjection(pod({}, [{ name: "alb-target-control-agent" }]), config), { kind: "allow" });
});
