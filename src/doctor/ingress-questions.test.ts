import assert from "node:assert/strict";
import { test } from "node:test";
import { checkIngress, type IngressFacts } from "./ingress-questions.ts";
import type { Picture } from "./picture.ts";

const told = (value: IngressFacts) =>
  checkIngress({ ingress: { known: true, value } } as Picture).map(({ level, what }) => `${level} ${what}`);
const alb = { name: "alb", controller: "ingress.k8s.aws/alb", isDefault: false };
const resources = ["ingressclassparams", "targetgroupbindings"];

test("a class that leads here and both definitions are all that Ingresses take", () => {
  assert.deepEqual(told({ classes: [alb], resources }), ["ok classes alb"]);
  assert.deepEqual(checkIngress({} as Picture), [], "nobody asked");
  assert.deepEqual(told({ classes: [{ ...alb, controller: "nginx" }], resources: [] }), [], "nothing of it is installed");
});

test("definitions that are missing, a class that leads nowhere here and two defaults are told", () => {
  assert.match(
    told({ classes: [alb], resources: [] }).join(),
    /^problem the API server does not know ingressclassparams and targetgroupbindings/,
  );
  assert.match(told({ classes: [{ ...alb, controller: "nginx" }], resources }).join(), /^warning no IngressClass has the controller/);
  const both = [alb, { ...alb, name: "other" }].map((each) => ({ ...each, isDefault: true }));
  assert.match(told({ classes: both, resources }).join(), /problem several classes are the default: alb, other/);
});
