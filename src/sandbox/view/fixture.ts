/** A moment in the life of a small cluster, for the tests of the view. */
import type { NodeRow, Picture } from "./picture.ts";

const start = Date.UTC(2026, 0, 1, 12, 0, 0);

/** A Node that Fairlead has initialised, on a running machine; `over` says what is different. */
export function nodeRow(number: number, over: Partial<NodeRow["node"] & object> = {}): NodeRow {
  return {
    instanceId: `i-0000000000000000${number}`,
    machine: "running",
    node: {
      name: `ip-10-0-32-${number}.ec2.internal`,
      uid: `uid-${number}`,
      ready: "True",
      zone: "us-east-1a",
      type: "m5.large",
      providerId: `aws:///us-east-1a/i-0000000000000000${number}`,
      internalIp: `10.0.32.${number}`,
      externalIp: undefined,
      podCidr: `10.244.${number}.0/24`,
      taints: [],
      cordoned: false,
      interruption: undefined,
      ...over,
    },
  };
}

/** Two nodes, one of them new; two replicas; one call, throttled. */
export const picture: Picture = {
  now: start,
  title: "embedded Kubernetes API · simulated AWS us-east-1",
  replicas: [
    { name: "a", state: "leading", pid: 101, cutOff: false, restarts: 0, url: "https://127.0.0.1:10258" },
    { name: "b", state: "standing by", pid: 102, cutOff: false, restarts: 0, url: "https://127.0.0.1:10259" },
  ],
  nodes: [
    nodeRow(1),
    nodeRow(2, { zone: undefined, type: undefined, providerId: undefined, internalIp: undefined, taints: ["not-ready", "uninitialized"] }),
  ],
  pods: [],
  services: [],
  routes: [],
  balancers: [],
  steps: [],
  events: [],
  calls: {
    tallies: [{ action: "DescribeInstances", calls: 3, throttled: 1, failed: 0 }],
    recent: [{ at: start - 1_000, action: "DescribeInstances", by: "AKIA", result: "RequestLimitExceeded", tookMs: 12, who: "Fairlead" }],
  },
  throttling: false,
};
