/** The judge itself: what it takes for a difference, and when it calls the list of reasons out of date. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DescribeVpcsCommand } from "@aws-sdk/client-ec2";
import { type Accepted, absent, Reasons } from "./accepted.ts";
import { compare } from "./compare.ts";
import { normalised } from "./normal.ts";
import { asker } from "./script.ts";

const exchange = asker("ec2")("VPCs", DescribeVpcsCommand, {});
const reason = { departs: "moto", why: "because", document: "a page" } as const;

test("lists are compared as sets, and pairs of key and value by their keys", () => {
  assert.deepEqual(compare({ Ids: ["a", "b"] }, { Ids: ["b", "a"] }), []);
  const tags = (...keys: string[]) => ({ Tags: keys.map((Key) => ({ Key, Value: "1" })) });
  assert.deepEqual(compare(tags("a", "b"), tags("c", "a")), [
    { path: "Tags[b]", ours: { Key: "b", Value: "1" }, moto: absent },
    { path: "Tags[c]", ours: absent, moto: { Key: "c", Value: "1" } },
  ]);
});

test("an item is compared with the one most like it", () => {
  const vpc = (id: string, state: string) => ({ Id: id, State: state, Cidr: `${id}/16` });
  const found = compare({ Vpcs: [vpc("a", "x"), vpc("b", "x")] }, { Vpcs: [vpc("b", "y"), vpc("a", "x")] });
  assert.deepEqual(found, [{ path: "Vpcs[].State", ours: "x", moto: "y" }]);
});

test("ids become the names they were kept under, whole ones only, and what is made up becomes its kind", () => {
  const [answer] = normalised({
    answers: [
      { output: { Mine: "10.0.2.5", Longer: "10.0.2.50", Other: "vpc-0123456789abcdef0", When: new Date(0), None: [], NextToken: "x" } },
    ],
    names: new Map([["10.0.2.5", "node"]]),
  });
  assert.deepEqual(answer, { Mine: "(node)", Longer: "10.0.2.50", Other: "(vpc)", When: "(time)", NextToken: "(page)" });
});

test("of a refusal the code, the status and the things it names count, not the words", () => {
  const refusal = (message: string) =>
    normalised({ answers: [{ error: { code: "NotFound", status: 400, message } }], names: new Map([["vpc-0aa", "vpc"]]) })[0]!;
  assert.deepEqual(compare(refusal("no vpc-0aa here"), refusal("vpc-0aa is missing")), []);
  assert.equal(compare(refusal("no vpc-0aa here"), refusal("it is missing")).length, 1);
});

test("a difference is accepted only in the listed place, field and values", () => {
  const difference = { path: "Vpcs[].State", ours: "x", moto: absent };
  const unexplained = (accepted: Partial<Accepted>) =>
    new Reasons([{ in: ["ec2:DescribeVpcs"], at: ["State"], ...reason, ...accepted }]).unexplained(exchange, [difference]).length;
  assert.equal(unexplained({}), 0);
  assert.equal(unexplained({ in: ["VPCs"], moto: absent, ours: "x" }), 0);
  assert.equal(unexplained({ in: ["elb:DescribeVpcs"] }), 1);
  assert.equal(unexplained({ at: ["tate"] }), 1);
  assert.equal(unexplained({ moto: "y" }), 1);
  assert.equal(unexplained({ ours: "y" }), 1);
});

test("a listed place or field where nothing differs any more is stale", () => {
  const reasons = new Reasons([{ in: ["VPCs", "other"], at: ["State", "Cidr"], ...reason }]);
  reasons.unexplained(exchange, [{ path: "Vpcs[].State", ours: "x", moto: "y" }]);
  assert.deepEqual(reasons.stale(), ["other (because)", "Cidr (because)"]);
});
