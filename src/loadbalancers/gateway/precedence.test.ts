import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../sandbox/seeded-random.ts";
import { match } from "./gateway.fixture.ts";
import { compareRules, type Placed } from "./precedence.ts";
import type { RouteMatch } from "./view.ts";

const sign = (a: Placed, b: Placed) => Math.sign(compareRules(a, b));

test("whatever rules there are, their order is one order", () => {
  const random = seededRandom(7);
  const one = <T>(...of: readonly T[]): T => of[Math.floor(random.number() * of.length)] as T;
  const header = { type: "Exact", name: "h", value: "v" };
  const any = (): Placed => {
    const http = () =>
      match(one(undefined, "Exact /a", "PathPrefix /a", "PathPrefix /ab", "RegularExpression /a.*"), {
        method: one("", "GET"),
        headers: one([], [header]),
        queries: one([], [header]),
      });
    const grpc = () =>
      ({
        of: "grpc",
        call: { type: one("Exact", "RegularExpression"), service: one("", "s"), method: one("", "m") },
        headers: [],
      }) as const;
    const asked = one<() => RouteMatch | undefined>(http, grpc, () => undefined)();
    return {
      hostname: one("", "a.com", "b.com", "*.a.com", "x.a.com"),
      route: { namespace: one("a", "b"), name: one("r", "s"), createdAt: one("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z") },
      ruleIndex: one(0, 1),
      ...(asked ? { match: asked, matchIndex: one(0, 1) } : { matchIndex: Number.POSITIVE_INFINITY }),
    };
  };
  const all = Array.from({ length: 40 }, any);
  for (const a of all)
    for (const b of all) {
      assert.equal(sign(a, b) + sign(b, a), 0);
      for (const c of all) if (sign(a, b) <= 0 && sign(b, c) <= 0) assert.ok(sign(a, c) <= 0);
    }
});
