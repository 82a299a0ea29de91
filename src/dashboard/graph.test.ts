import assert from "node:assert/strict";
import { test } from "node:test";
import { changeBetween, type Entry, graphOf, type Kind } from "./graph.ts";

function entry(kind: Kind, id: string, rest: Partial<Entry> = {}): Entry {
  return { thing: { id, kind, name: id, state: "good", text: "in order", facts: {} }, to: [], ...rest };
}

test("things are joined by id and by their other names; what leads nowhere known is left out", () => {
  const { links } = graphOf(
    [
      entry("service", "service/shop/web", { to: ["web.elb.amazonaws.com", "gone.elb.amazonaws.com"] }),
      entry("balancer", "arn:lb", { also: ["web.elb.amazonaws.com"], to: ["arn:tg", "arn:tg"] }),
      entry("target-group", "arn:tg"),
    ],
    new Map(),
  );
  assert.deepEqual(links, [
    ["service/shop/web", "arn:lb"],
    ["arn:lb", "arn:tg"],
  ]);
});

test("what costs money and nothing leads to is idle; what an Event complains of is in trouble", () => {
  const { things } = graphOf(
    [
      entry("service", "service/shop/web", { to: ["arn:used"], uid: "u1" }),
      entry("balancer", "arn:used", { needsUse: true }),
      entry("balancer", "arn:left", { needsUse: true }),
    ],
    new Map([["u1", "no subnet has room"]]),
  );
  assert.deepEqual(
    things.map(({ id, state, text }) => [id, state, text]),
    [
      ["service/shop/web", "bad", "no subnet has room"],
      ["arn:used", "good", "in order"],
      ["arn:left", "idle", "nobody uses it"],
    ],
  );
});

test("a change tells of what is new, what is other and what is gone, and of nothing when all is the same", () => {
  const before = graphOf([entry("node", "a", { to: ["b"] }), entry("instance", "b"), entry("node", "c")], new Map());
  assert.equal(
    changeBetween(before, graphOf([entry("node", "a", { to: ["b"] }), entry("instance", "b"), entry("node", "c")], new Map())),
    undefined,
  );
  const stopped = entry("instance", "b");
  const after = graphOf([entry("node", "a"), { ...stopped, thing: { ...stopped.thing, state: "working" } }], new Map());
  const change = changeBetween(before, after);
  assert.deepEqual([change?.things.map(({ id }) => id), change?.gone, change?.links], [["b"], ["c"], []]);
});

test("what has no name, such as the address of a terminated instance, is led to by nothing", () => {
  const { links } = graphOf([entry("instance", "i-1", { also: [""] }), entry("node", "node/a", { to: [""] })], new Map());
  assert.deepEqual(links, []);
});

test("another cluster's load balancer is not shown as left over; one that something of ours leads to is shown, with all behind it", () => {
  const foreign = true;
  const { things } = graphOf(
    [
      entry("service", "service/shop/web", { to: ["arn:lent"] }),
      entry("balancer", "arn:other", { foreign, to: ["arn:other-tg"] }),
      entry("target-group", "arn:other-tg", { foreign }),
      entry("balancer", "arn:lent", { foreign, to: ["arn:lent-tg"] }),
      entry("target-group", "arn:lent-tg", { foreign }),
    ],
    new Map(),
  );
  assert.deepEqual(
    things.map(({ id, state }) => [id, state]),
    [
      ["service/shop/web", "good"],
      ["arn:lent", "good"],
      ["arn:lent-tg", "good"],
    ],
  );
});
