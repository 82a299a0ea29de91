import assert from "node:assert/strict";
import { test } from "node:test";
import { planJson } from "../../aws/plan.ts";
import { type EndpointRule, endpointRuleDescription, endpointRuleKey, planEndpointRules, unionOf } from "./endpoint-rules.ts";
import type { SeenRule } from "./managed.ts";

const from = (id: string, fromPort: number, toPort = fromPort): EndpointRule => ({
  protocol: "tcp",
  fromPort,
  toPort,
  source: { kind: "group", id },
});
const block = (cidr: string, port: number): EndpointRule => ({
  protocol: "tcp",
  fromPort: port,
  toPort: port,
  source: { kind: "cidr", cidr },
});
const keys = (rules: readonly EndpointRule[]) => rules.map(endpointRuleKey).toSorted();

test("rules from one group are one, from the lowest port to the highest; those from addresses stay as they are", () => {
  const rules = [
    from("sg-1", 8080),
    from("sg-1", 80),
    from("sg-2", 9000),
    block("10.0.0.0/8", 80),
    block("10.0.0.0/8", 81),
    from("sg-1", 80),
  ];
  assert.deepEqual(keys(unionOf(rules, false)), ["tcp 80-80 10.0.0.0/8", "tcp 80-8080 sg-1", "tcp 81-81 10.0.0.0/8", "tcp 9000-9000 sg-2"]);
  assert.deepEqual(keys(unionOf(rules, true)), keys([...new Set(rules.slice(0, 5))]));
  assert.deepEqual(keys(unionOf([from("sg-1", 80), from("sg-1", 0)], false)), ["tcp 0-65535 sg-1"]);
});

const seen = (id: string, source: Partial<SeenRule>, port: number, description?: string): SeenRule => ({
  id,
  protocol: "tcp",
  fromPort: port,
  toPort: port,
  ...source,
  ...(description && { description }),
});

test("what is missing is granted, what is ours and wanted by nobody revoked, and what is another's left alone", () => {
  const group = {
    id: "sg-nodes",
    rules: [
      seen("r-1", { sourceGroup: "sg-1" }, 80, endpointRuleDescription),
      seen("r-2", { sourceGroup: "sg-2" }, 80, endpointRuleDescription),
      seen("r-3", { sourceGroup: "sg-3" }, 80, "somebody's"),
      seen("r-4", { cidr: "10.0.0.0/8" }, 81, `team=a,${endpointRuleDescription}`),
      seen("r-5", { cidr: "10.0.0.0/8" }, 82, `${endpointRuleDescription}d`),
    ],
  };
  const wanted = [from("sg-1", 80), from("sg-3", 80), block("::/0", 443)];
  const { grant, revoke } = planEndpointRules(group, { asked: wanted, unheard: [], exact: true });
  const [granted] = planJson(grant) as [{ input: object }];
  assert.deepEqual(granted.input, {
    GroupId: "sg-nodes",
    IpPermissions: [
      { IpProtocol: "tcp", FromPort: 443, ToPort: 443, Ipv6Ranges: [{ CidrIpv6: "::/0", Description: endpointRuleDescription }] },
    ],
  });
  const [revoked] = planJson(revoke) as [{ input: object }];
  assert.deepEqual(revoked.input, { GroupId: "sg-nodes", SecurityGroupRuleIds: ["r-2", "r-4"] });
});

test("what somebody may have asked for who is not heard stays as far as it is there, and is never granted anew", () => {
  const group = {
    id: "sg-nodes",
    rules: [
      { ...seen("r-1", { sourceGroup: "sg-1" }, 80, endpointRuleDescription), toPort: 90 },
      seen("r-2", { sourceGroup: "sg-2" }, 80, endpointRuleDescription),
      seen("r-3", { cidr: "10.0.0.0/8" }, 81, endpointRuleDescription),
    ],
  };
  const texts = (unheard: readonly EndpointRule[], asked: readonly EndpointRule[] = []) => {
    const { grant, revoke } = planEndpointRules(group, { asked, unheard, exact: false });
    return [...grant, ...revoke].map(({ what }) => what);
  };
  assert.deepEqual(texts([from("sg-1", 80, 90), from("sg-2", 0, 65_535), block("10.0.0.0/8", 81), from("sg-3", 80)]), []);
  assert.deepEqual(texts([from("sg-1", 85), from("sg-2", 80), block("10.0.0.0/8", 81)], [from("sg-1", 80)]), [
    "allow tcp:80-85 from sg-1 in security group sg-nodes",
    "revoke tcp:80-90 from sg-1 in security group sg-nodes",
  ]);
  assert.equal(texts([from("sg-1", 91), from("sg-2", 81), block("10.0.0.0/8", 80)]).length, 1, "none of them is theirs");
});
