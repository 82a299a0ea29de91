import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { QuicIdSource, quicIdOf, quicInjection } from "./quic-injection.ts";

const annotation = "service.beta.kubernetes.io/aws-load-balancer-quic-enabled-containers";
const variable = "AWS_LBC_QUIC_SERVER_ID";

function inject(annotations: object, spec: object) {
  let count = 0;
  return quicInjection({ metadata: { annotations }, spec }, variable, () => `id${++count}`);
}

test("an id is the millisecond, the worker and the sequence, as the reference writes it", () => {
  const ms = Date.UTC(2026, 0, 2, 3, 4, 5, 678) - Date.UTC(2020, 0, 1);
  assert.equal(quicIdOf(ms, 4242, 17), "LB5Cpy4ISRE=");
});

test("each container that is named gets an id of its own, init containers too; one that has an id keeps it", () => {
  const containers = [
    { name: "a" },
    { name: "b", env: [{ name: "X", value: "1" }] },
    { name: "c" },
    { name: "d", env: [{ name: variable }] },
  ];
  assert.deepEqual(inject({ [annotation]: "a, b,d,init" }, { containers, initContainers: [{ name: "init" }] }), {
    kind: "allow",
    patch: [
      { op: "add", path: "/spec/containers/0/env", value: [{ name: variable, value: "id1" }] },
      { op: "add", path: "/spec/containers/1/env/-", value: { name: variable, value: "id2" } },
      { op: "add", path: "/spec/initContainers/0/env", value: [{ name: variable, value: "id3" }] },
    ],
    warnings: [],
  });
});

test("a pod that asks for none is left alone, and one that names a container which it has not is told so", () => {
  assert.deepEqual(inject({}, { containers: [{ name: "a" }] }), { kind: "allow" });
  const told = inject({ [annotation]: "nobody" }, { containers: [{ name: "a" }] });
  assert.match(JSON.stringify(told), /names container nobody, which the pod does not have/);
  assert.deepEqual(inject({ [annotation]: 7 }, {}), { kind: "allow" });
});

test("ids are distinct and grow, also when more are asked for than a millisecond has, and when the clock goes back", () => {
  const world = virtualWorld(1);
  const start = world.clock.now();
  let now = start;
  const source = new QuicIdSource({ ...world, clock: { ...world.clock, now: () => now } as typeof world.clock });
  const ids = Array.from({ length: 1_000 }, () => source.next());
  now = start - 60_000;
  ids.push(...Array.from({ length: 10 }, () => source.next()));
  now = start + 60_000;
  ids.push(source.next());
  const numbers = ids.map((id) => Buffer.from(id, "base64").readBigUInt64BE());
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => (a < b ? -1 : 1)),
  );
});
