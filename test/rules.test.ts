import assert from "node:assert/strict";
import { test } from "node:test";
import { breaches } from "./rules.ts";

const check = (file: string, source: string) => breaches([file], () => source).map((breach) => `${breach.line}: ${breach.message}`);

test("a kit may not import the other kit", () => {
  assert.match(check("src/kube/client.ts", 'import { x } from "../aws/cloud.ts";')[0] ?? "", /kube\/ may not import aws\//);
  assert.deepEqual(check("src/kube/client.ts", 'import type { World } from "../runtime/world.ts";'), []);
});

test("a domain may not import another domain, and runtime imports nobody", () => {
  assert.equal(check("src/nodes/addresses.ts", 'import { x } from "../routes/plan.ts";').length, 1);
  assert.equal(check("src/runtime/queue.ts", 'import { x } from "../kube/client.ts";').length, 1);
  assert.deepEqual(check("src/nodes/addresses.ts", 'import { x } from "../identity/provider-id.ts";'), []);
});

test("the sandbox is imported dynamically, by a command, or by a test", () => {
  assert.equal(check("src/commands/sandbox.ts", 'import { x } from "../sandbox/main.ts";').length, 1);
  assert.deepEqual(check("src/commands/sandbox.ts", 'const m = await import("../sandbox/main.ts");'), []);
  assert.deepEqual(check("src/kube/informer.test.ts", 'import { x } from "../sandbox/virtual-clock.ts";'), []);
});

test("the clock, chance and the environment come from the World", () => {
  for (const line of [
    "Date.now()",
    "new Date()",
    "Math.random()",
    "setTimeout(f, 1)",
    "AbortSignal.timeout(1)",
    "process.env.HOME",
    "randomUUID()",
  ]) {
    assert.equal(check("src/nodes/x.ts", `const a = ${line};`).length, 1, line);
    assert.deepEqual(check("src/runtime/world.ts", `const a = ${line};`), [], line);
  }
  assert.deepEqual(check("src/nodes/x.ts", "const a = new Date(ms).toISOString(); // not Date.now()"), []);
});

test("only aws/ constructs AWS clients", () => {
  assert.equal(check("src/nodes/x.ts", "const ec2 = new EC2Client({});").length, 1);
  assert.deepEqual(check("src/aws/cloud.ts", "const ec2 = new EC2Client({});"), []);
});

test("a kind of load balancer imports no door, a door no other door, and the core neither kinds nor doors", () => {
  const breaks = (file: string, imported: string) => check(`src/loadbalancers/${file}`, `import { x } from "${imported}";`).length === 1;
  assert.ok(breaks("classic/kind.ts", "../service/annotations.ts"));
  assert.ok(breaks("classic/kind.ts", "../network/plan.ts"));
  assert.ok(breaks("ingress/desire.ts", "../service/annotations.ts"));
  assert.ok(breaks("survey.ts", "./service/desire.ts"));
  assert.ok(breaks("groups/claims.ts", "../classic/kind.ts"));
  assert.ok(!breaks("service/kinds.ts", "../classic/kind.ts"));
  assert.ok(!breaks("classic/kind.ts", "../groups/managed.ts"));
  assert.ok(!breaks("classic/plan.test.ts", "../service/desire.ts"));
});

test("only a kind itself may ask which kind it is, by name or by a field", () => {
  for (const line of ['if (lb.kind === "classic") x();', 'lb.kind !== "network"', 'case "application":', '"targetGroups" in seen']) {
    assert.equal(check("src/loadbalancers/service/follow.ts", line).length, 1, line);
    assert.equal(check("src/loadbalancers/survey.ts", line).length, 1, line);
    assert.deepEqual(check("src/loadbalancers/network/kind.ts", line), [], line);
  }
  assert.deepEqual(check("src/loadbalancers/groups/node-rules.ts", '"sourceGroup" in rule'), []);
});

test("types of Kubernetes objects come from the generated module", () => {
  assert.match(check("src/nodes/x.ts", `import type { Node } from "${"kubernetes-types"}/core/v1.d.ts";`)[0] ?? "", /src\/kube\/types\.ts/);
  assert.deepEqual(check("src/nodes/x.ts", 'import type { Node } from "../kube/types.ts";'), []);
});

test("a file is split before it has more than 300 lines, unless it is named as a table; tests may be longer", () => {
  const long = "const a = 1;\n".repeat(301);
  assert.match(check("src/nodes/x.ts", long)[0] ?? "", /^301: 301 lines: split it/);
  assert.deepEqual(check("src/nodes/x.ts", long.slice(0, -13)), []);
  assert.deepEqual(check("src/nodes/x.test.ts", long), []);
  assert.deepEqual(check("src/doctor/permissions.ts", long), []);
  assert.match(check("src/doctor/permissions.ts", "const a = 1;\n")[0] ?? "", /no longer needs to be named/);
});
