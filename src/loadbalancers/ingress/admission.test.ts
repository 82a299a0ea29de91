import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdmissionRequest } from "../admission/review.ts";
import { type IngressAdmission, validateIngress, validateParams } from "./admission.ts";

const alb = { name: "alb", controller: "ingress.k8s.aws/alb", isDefault: false };
const nginx = { name: "nginx", controller: "k8s.io/ingress-nginx", isDefault: false };
const usual: IngressAdmission = {
  ingressClass: "alb",
  classes: [alb, nginx],
  forbidsClassAnnotation: false,
  forbidsGroupAnnotation: false,
};
const prefix = "alb.ingress.kubernetes.io/";
const legacy = "kubernetes.io/ingress.class";

const ingress = (className: string | undefined, annotations: Readonly<Record<string, string>> = {}, spec: object = {}) => ({
  metadata: { namespace: "shop", name: "web", uid: "u", resourceVersion: "1", annotations },
  spec: {
    ...(className !== undefined && { ingressClassName: className }),
    rules: [
      { host: "no-http.example.com" },
      { http: { paths: [{ pathType: "Prefix", path: "/", backend: { service: { name: "web", port: { number: 80 } } } }] } },
      { http: { paths: [{ pathType: "Prefix", path: "/r", backend: { resource: { kind: "Bucket", name: "b" } } }] } },
    ],
    ...spec,
  },
});

const request = (object: unknown, oldObject?: unknown): AdmissionRequest => ({
  operation: oldObject === undefined ? "CREATE" : "UPDATE",
  namespace: "shop",
  name: "web",
  object,
  oldObject,
});

const judged = (admission: Partial<IngressAdmission>, object: unknown, oldObject?: unknown): string => {
  const verdict = validateIngress(request(object, oldObject), { ...usual, ...admission });
  if (verdict.kind === "deny") return `denied: ${verdict.message}`;
  return verdict.kind === "allow" ? `allowed${verdict.warnings ? `: ${verdict.warnings.join("; ")}` : ""}` : "passed";
};

test("an Ingress of ours passes, one of another controller is none of ours, whatever it says", () => {
  assert.equal(judged({}, ingress("alb")), "allowed");
  assert.equal(judged({}, ingress("nginx", { [`${prefix}conditions.web`]: "[" })), "allowed");
  assert.equal(judged({}, ingress(undefined, { [legacy]: "nginx", [`${prefix}conditions.web`]: "[" })), "allowed");
});

test("a class that is missing is refused where it is new, and lived with where it was there", () => {
  const missing = 'invalid ingress class: IngressClass.networking.k8s.io "gone" not found';
  assert.equal(judged({}, ingress("gone")), `denied: ${missing}`);
  assert.equal(judged({}, ingress("gone"), ingress("alb")), `denied: ${missing}`);
  assert.equal(judged({}, ingress("gone"), ingress("gone")), `allowed: ${missing}`);
  assert.equal(judged({}, ingress("gone", { [legacy]: "alb" })), `denied: ${missing}`, "also beside an annotation of ours");
  assert.equal(judged({}, ingress("gone", { [legacy]: "alb" }), ingress("gone", { [legacy]: "alb" })), "allowed");
});

test("two default classes are refused to who names none; one default is its class", () => {
  const both = [alb, nginx].map((each) => ({ ...each, isDefault: true }));
  assert.equal(judged({ classes: both }, ingress(undefined)), "denied: multiple default IngressClasses found");
  assert.equal(judged({ classes: both }, ingress("alb")), "allowed");
  const bad = { [`${prefix}conditions.web`]: "[" };
  assert.match(judged({ classes: [{ ...alb, isDefault: true }] }, ingress(undefined, bad)), /^denied: ignoring Ingress shop\/web/);
  assert.equal(judged({ ingressClass: "alb" }, ingress(undefined, bad)), "allowed");
  assert.match(judged({ ingressClass: "" }, ingress(undefined, bad)), /^denied/, "with an empty flag Ingresses without a class are ours");
});

test("annotations that flags forbid are refused where they are new or changed", () => {
  const [byClass, byGroup] = [{ forbidsClassAnnotation: true }, { forbidsGroupAnnotation: true }];
  const [classed, grouped] = [ingress(undefined, { [legacy]: "alb" }), ingress("alb", { [`${prefix}group.name`]: "g" })];
  const classText = "denied: new usage of `kubernetes.io/ingress.class` annotation is forbidden";
  const groupText = "denied: new usage of `alb.ingress.kubernetes.io/group.name` annotation is forbidden";
  assert.deepEqual([judged(byClass, classed), judged(byGroup, grouped)], [classText, groupText]);
  assert.deepEqual([judged(byClass, classed, classed), judged(byGroup, grouped, grouped)], ["allowed", "allowed"]);
  assert.deepEqual([judged({}, classed), judged({}, grouped)], ["allowed", "allowed"]);
  assert.equal(judged(byGroup, ingress("alb", { [`${prefix}group.name`]: "h" }), grouped), groupText);
  assert.equal(judged(byGroup, ingress("alb"), grouped), "allowed", "leaving is allowed");
});

test("conditions of a path's backend are refused, everything else that is wrong is a warning", () => {
  const bad = { [`${prefix}conditions.web`]: '[{"field":"host-header"}]' };
  assert.match(
    judged({}, ingress("alb", bad)),
    /^denied: ignoring Ingress shop\/web since invalid alb.ingress.kubernetes.io\/conditions.web annotation: .*hostHeaderConfig/,
  );
  const ofDefault = { rules: [], defaultBackend: { service: { name: "web", port: { number: 80 } } } };
  assert.equal(judged({}, ingress("alb", bad, ofDefault)), "allowed");
  assert.match(judged({}, ingress("alb", { [`${prefix}scheme`]: "public" })), /^allowed: unknown scheme: public/);
  assert.match(judged({}, ingress("alb", { [`${prefix}schem`]: "internal" })), /^allowed: .*schem is not known/);
  assert.match(judged({}, ingress("alb", { [`${prefix}actions.a`]: "{" })), /^allowed: failed to parse json annotation/);
});

test("conditions that were wrong before are lived with: the controller may write its finalizer, and its author a label", () => {
  const bad = (text: string) => ingress("alb", { [`${prefix}conditions.web`]: text });
  assert.match(judged({}, bad("["), bad("[")), /^allowed: ignoring Ingress shop\/web since invalid .*conditions\.web/);
  assert.match(judged({}, bad('[{"field":"host-header"}]'), bad("[")), /^denied/, "another mistake is a new one");
  assert.match(judged({}, bad("["), ingress("alb")), /^denied/);
});

test("parameters of a class: blocks of addresses and subnets, with the reference's texts", () => {
  const told = (spec: object) => {
    const verdict = validateParams(request({ metadata: { name: "p" }, spec }));
    return verdict.kind === "deny" ? verdict.message : verdict.kind;
  };
  const cidr = (text: string) => told({ inboundCIDRs: [text] });
  const invalid = (text: string, why: string) => `spec.inboundCIDRs[0]: Invalid value: "${text}": ${why}`;
  assert.equal(told({ inboundCIDRs: ["10.0.0.0/8", "2001:db8::/32", "0.0.0.0/0", "::/0"], subnets: { ids: ["subnet-1"] } }), "allow");
  assert.equal(cidr("192.168.1.1"), invalid("192.168.1.1", 'Could not be parsed as a CIDR (did you mean "192.168.1.1/32")'));
  assert.equal(cidr("2001:db8::1"), invalid("2001:db8::1", 'Could not be parsed as a CIDR (did you mean "2001:db8::1/64")'));
  for (const text of ["", "example.com", "10.0.0.0/33"]) assert.equal(cidr(text), invalid(text, "Could not be parsed as a CIDR"));
  assert.equal(cidr("10.1.2.3/8"), invalid("10.1.2.3/8", 'Network contains bits outside prefix (did you mean "10.0.0.0/8")'));
  assert.equal(cidr("2001:db8::1/32"), invalid("2001:db8::1/32", 'Network contains bits outside prefix (did you mean "2001:db8::/32")'));
  assert.equal(told({ subnets: {} }), "spec.subnets: Required value: must have either `ids` or `tags`");
  assert.equal(told({ subnets: { tags: {} } }), "spec.subnets.tags: Required value: must have at least one tag key");
  assert.equal(told({ subnets: { ids: ["subnet-1", "subnet-1"] } }), 'spec.subnets.ids[1]: Duplicate value: "subnet-1"');
  assert.equal(told({ subnets: { tags: { a: ["b", "b"] } } }), 'spec.subnets.tags[a][1]: Duplicate value: "b"');
  assert.match(
    told({ subnets: { ids: ["subnet-1"], tags: { a: ["b"] } } }),
    /^spec.subnets.tags: Forbidden: may not have both `ids` and `tags` set$/,
  );
  assert.match(told({ inboundCIDRs: ["x"], subnets: {} }), /^\[spec.inboundCIDRs\[0\].*, spec.subnets: Required.*\]$/);
});
