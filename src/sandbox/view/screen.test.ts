import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeRow, picture } from "./fixture.ts";
import type { Picture } from "./picture.ts";
import { drawScreen, type Scenery, type Size } from "./screen.ts";
import { render, widthOf } from "./text.ts";

const scenery: Scenery = {
  story: [
    { at: picture.now - 2_000, who: "kubelet", text: "ip-10-0-32-2 registers as a Node, tainted uninitialized", style: "plain" },
    { at: picture.now - 1_000, who: "AWS", text: "turns a call away: DescribeInstances RequestLimitExceeded", style: "warn" },
  ],
  selected: "i-00000000000000002",
  message: "AWS answers again",
  help: undefined,
  keys: "t throttle AWS  a add",
  uptimeMs: 83_000,
};

test("a small terminal shows who leads, every node with its machine, what happens, and the keys", () => {
  assert.deepEqual(shown(picture, scenery, { columns: 80, rows: 14 }), [
    " Fairlead sandbox   embedded Kubernetes API · simulated AWS us-east-1   up 1:23",
    " replicas a ● leads  b ○ standby   AWS ● answering  3 calls, 1 throttled",
    "",
    "   NODE          STATE  EC2      TYPE      ZONE        TAINTS",
    "   ip-10-0-32-1  Ready  running  m5.large  us-east-1a  –",
    " ▸ ip-10-0-32-2  Ready  running  –         –           not-ready uninitialized",
    "",
    " WHAT HAPPENS",
    " 11:59:58  kubelet    ip-10-0-32-2 registers as a Node, tainted uninitialized",
    " 11:59:59  AWS        turns a call away: DescribeInstances RequestLimitExceeded",
    "",
    "",
    " AWS answers again                                               ? help  q quit",
    " t throttle AWS  a add",
  ]);
});

test("a wide terminal adds the machines' ids, addresses, pod networks and the calls beside the story", () => {
  const lines = shown(picture, scenery, { columns: 140, rows: 14 });
  assert.equal(lines[4], "   ip-10-0-32-1  Ready  i-00000000000000001  running  m5.large  us-east-1a  10.0.32.1  10.244.1.0/24  –");
  assert.match(lines[7] ?? "", /^ WHAT HAPPENS +AWS CALLS$/);
  assert.match(lines[8] ?? "", /registers as a Node, tainted uninitialized +3 {2}DescribeInstances {2}1 throttled$/);
  assert.match(lines[10] ?? "", / 11:59:59 {2}DescribeInstances RequestLimitExceeded 12 ms$/);
});

test("a terminal of any size is filled exactly, however much there is to show", () => {
  const crowded: Picture = {
    ...picture,
    nodes: Array.from({ length: 40 }, (_, number) => nodeRow(number)),
    services: Array.from({ length: 9 }, (_, number) => ({
      name: `default/web-${number}`,
      kind: "network",
      ports: "80:31234",
      address: `k8s-default-web${number}-0123456789.elb.us-east-1.amazonaws.com`,
      deleting: number === 3,
    })),
  };
  for (const columns of [20, 40, 79, 80, 119, 120, 200]) {
    for (const rows of [5, 10, 24, 45, 100]) {
      const lines = drawScreen(crowded, scenery, { columns, rows });
      assert.equal(lines.length, rows, `${columns}x${rows}`);
      for (const line of lines) assert.ok(widthOf(line) <= columns, `${columns}x${rows}: ${render(line, false)}`);
    }
  }
});

test("nodes that do not fit are counted, and the chosen one is always seen", () => {
  const many = { ...picture, nodes: Array.from({ length: 40 }, (_, number) => nodeRow(number)) };
  for (const [number, first] of [
    [2, 0],
    [20, 14],
    [39, 33],
  ] as const) {
    const lines = shown(many, { ...scenery, selected: `i-0000000000000000${number}` }, { columns: 80, rows: 24 });
    assert.match(lines[4] ?? "", new RegExp(`ip-10-0-32-${first} `));
    assert.ok(lines.some((line) => line.startsWith(` ▸ ip-10-0-32-${number} `)));
    assert.ok(lines.includes("   … and 33 more"));
  }
});

test("a Service shows its load balancer and how many nodes are healthy behind it, cut where the terminal ends", () => {
  const address = "a516457f266214d4e92e0ea3c7a70517-e87cc0b1a2c3d4e5.elb.us-east-1.amazonaws.com";
  const served: Picture = {
    ...picture,
    services: [{ name: "default/web", kind: "network", ports: "80:31979", address, deleting: false }],
    balancers: [{ kind: "network", dnsName: address, ports: [80], targets: 2, healthy: 1, local: [] }],
  };
  assert.deepEqual(shown(served, scenery, { columns: 80, rows: 24 }).slice(7, 9), [
    "   SERVICE      HEALTHY  LOAD BALANCER",
    "   default/web  1 of 2   a516457f266214d4e92e0ea3c7a70517-e87cc0b1a2c3d4e5.elb.…",
  ]);
});

test("a partition and a throttled cloud are seen at a glance", () => {
  const [a, b] = picture.replicas;
  const [, status] = shown({ ...picture, replicas: [{ ...a!, cutOff: true }, b!], throttling: true }, scenery, { columns: 120, rows: 10 });
  assert.equal(status, " replicas a ● leads cut off  b ○ standby   AWS ▲ throttling  3 calls, 1 throttled");
});

test("colours are escape codes on a terminal and nothing anywhere else", () => {
  const [, status = []] = drawScreen(picture, scenery, { columns: 80, rows: 24 });
  assert.ok(render(status, true).includes("\x1b[32m● leads\x1b[0m"));
  assert.ok(!render(status, false).includes("\x1b"));
});

function shown(what: Picture, how: Scenery, size: Size): readonly string[] {
  return drawScreen(what, how, size).map((line) => render(line, false));
}
