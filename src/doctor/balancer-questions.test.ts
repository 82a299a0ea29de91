import assert from "node:assert/strict";
import { test } from "node:test";
import { type BalancerFacts, checkBalancer } from "./balancer-questions.ts";
import type { Picture } from "./picture.ts";

const fine: BalancerFacts = {
  resources: ["targetgroupbindings"],
  webhooks: [{ name: "mpod.elbv2.k8s.aws", failurePolicy: "Ignore", isTrusted: true, isServed: true, service: "kube-system/w" }],
  leaders: ["kube-system/one"],
  gatedNamespaces: ["shop"],
  unserved: [],
  unclear: [],
  unready: [],
};
const told = (facts: Partial<BalancerFacts>) =>
  checkBalancer({ balancer: { known: true, value: { ...fine, ...facts } } } as Picture).map(({ level, what }) => `${level} ${what}`);
const webhook = fine.webhooks![0]!;

test("one that leads, with its definition and webhooks that answer, is all it takes; where nothing is installed nothing is said", () => {
  assert.deepEqual(told({}), ["ok kube-system/one leads"]);
  assert.deepEqual(told({ resources: [], webhooks: [], leaders: [], gatedNamespaces: [] }), []);
  assert.deepEqual(checkBalancer({} as Picture), []);
});

test("what keeps it from working is told, with what follows from it", () => {
  const cases: readonly (readonly [Partial<BalancerFacts>, RegExp])[] = [
    [{ resources: [] }, /problem the API server does not know targetgroupbindings/],
    [{ leaders: ["a/x", "b/y"] }, /problem several lead at once.*a\/x, b\/y/],
    [{ leaders: [], unserved: ["shop/web"] }, /problem nobody holds the Lease .*shop\/web/],
    [{ webhooks: [{ ...webhook, isServed: false }] }, /warning webhook mpod.elbv2.k8s.aws has no pod behind .*: objects pass without it/],
    [
      { webhooks: [{ ...webhook, isServed: false, failurePolicy: "Fail" }] },
      /problem webhook .*every object that it is asked about is refused/,
    ],
    [{ webhooks: [{ ...webhook, isTrusted: false }] }, /warning the API server trusts no certificate of webhook mpod/],
    [{ webhooks: [] }, /warning namespaces shop are labelled .*no webhook gives their pods readiness gates/],
    [{ unclear: ["shop/web"] }, /warning nobody serves shop\/web: .*nlb-target-type must be ip or instance/],
    [
      { unready: [{ binding: "shop/web", reason: "TargetGroupNotFound" }] },
      /warning TargetGroupBinding shop\/web is not ready: TargetGroupNotFound/,
    ],
  ];
  for (const [facts, text] of cases) assert.match(told(facts).join("\n"), text);
});
