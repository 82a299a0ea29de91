import assert from "node:assert/strict";
import { test } from "node:test";
import { classAnnotation } from "./annotations.ts";
import { type ClassSources, classOf, controllerName } from "./classes.ts";
import { finalizerOf, type GroupId, groupOf, groupsFinalized, membershipOf } from "./groups.ts";
import { ingress } from "./ingress.fixture.ts";
import type { ClassParams, IngressView } from "./view.ts";

const params: ClassParams = { name: "p" };
const alb = { name: "alb", controller: controllerName, isDefault: false };
const nginx = { name: "nginx", controller: "k8s.io/ingress-nginx", isDefault: false };
const sources = (given: Partial<ClassSources> = {}): ClassSources => ({
  ingressClass: "alb",
  classes: [alb, nginx],
  params: (name) => (name === "p" ? params : undefined),
  namespaceMatches: () => true,
  ...given,
});
const withClass = (className: string | undefined, annotation?: string): IngressView => {
  const annotations: Record<string, string> = annotation === undefined ? {} : { [classAnnotation]: annotation };
  const { className: _, ...rest } = ingress("shop/web", { annotations });
  return className === undefined ? rest : { ...rest, className };
};
const verdict = (of: IngressView, given?: Partial<ClassSources>) => {
  const found = classOf(of, sources(given));
  return found.kind === "invalid" ? found.message : found.kind;
};

test("an annotation decides before the class, and the class before the default", () => {
  assert.equal(verdict(withClass("nginx", "alb")), "ours");
  assert.equal(verdict(withClass("alb", "nginx")), "foreign");
  assert.equal(verdict(withClass("alb", ""), { ingressClass: "" }), "ours");
  assert.equal(verdict(withClass("alb")), "ours");
  assert.equal(verdict(withClass("nginx")), "foreign");
  assert.equal(verdict(withClass(undefined)), "foreign");
  assert.equal(verdict(withClass(undefined), { ingressClass: "" }), "ours");
  assert.equal(verdict(withClass(undefined), { classes: [{ ...alb, isDefault: true }] }), "ours");
  assert.equal(verdict(withClass(undefined), { classes: [{ ...nginx, isDefault: true }] }), "foreign");
});

test("a class that cannot be told is said to be so", () => {
  assert.equal(verdict(withClass("gone")), 'invalid ingress class: IngressClass.networking.k8s.io "gone" not found');
  const two = [alb, nginx].map((each) => ({ ...each, isDefault: true }));
  assert.equal(verdict(withClass(undefined), { classes: two }), "invalid ingress class: multiple default IngressClasses found");
  const parametrised = (parameters: object, given: Partial<ClassSources> = {}) =>
    verdict(withClass("alb"), {
      classes: [{ ...alb, parameters: { apiGroup: "elbv2.k8s.aws", kind: "IngressClassParams", name: "p", ...parameters } }],
      ...given,
    });
  assert.equal(parametrised({}), "ours");
  assert.equal(parametrised({ apiGroup: undefined }), "invalid ingress class: IngressClass alb references unknown parameters");
  assert.equal(parametrised({ kind: "Other" }), "invalid ingress class: IngressClass alb references unknown parameters");
  assert.equal(parametrised({ name: "q" }), 'invalid ingress class: IngressClassParams.elbv2.k8s.aws "q" not found');
  const selecting = { params: () => ({ name: "p", namespaceSelector: {} }), namespaceMatches: () => false };
  assert.equal(parametrised({}, selecting), "invalid ingress class: namespaceSelector of IngressClassParams p mismatch");
});

const ours = { kind: "ours" } as const;
const member = (annotations: Record<string, string>, given?: ClassParams) => {
  const found = membershipOf(ingress("shop/web", { annotations }), given ? { ...ours, params: given } : ours);
  return found.kind === "in" ? found.group : found.kind === "none" ? "none" : found.message;
};

test("a group by its name, else an Ingress by itself; the class's name goes before the annotation", () => {
  assert.deepEqual(member({}), { kind: "implicit", namespace: "shop", name: "web" });
  assert.deepEqual(member({ "group.name": "team.a" }), { kind: "explicit", name: "team.a" });
  assert.deepEqual(member({ "group.name": "a" }, { name: "p", group: { name: "b" } }), { kind: "explicit", name: "b" });
  assert.deepEqual(member({ "group.name": "x".repeat(63) }), { kind: "explicit", name: "x".repeat(63) });
  for (const name of ["", "A", "-a", "a-", "a_b"])
    assert.match(String(member({ "group.name": name })), /^invalid ingress group: groupName must consist of/, name);
  assert.match(String(member({ "group.name": "x".repeat(64) })), /no more than 63 characters/);
});

const g: GroupId = { kind: "explicit", name: "g" };
const inGroup = (key: string, order?: string, rest: Partial<IngressView> = {}) =>
  ingress(key, { annotations: { "group.name": "g", ...(order !== undefined && { "group.order": order }) }, rest });
const load = (ingresses: readonly IngressView[], id: GroupId = g, invalidClass: readonly IngressView[] = []) =>
  groupOf(id, ingresses, (each) => membershipOf(each, invalidClass.includes(each) ? { kind: "invalid", message: "no class" } : ours));
const keys = (ingresses: readonly { readonly ingress: IngressView }[]) =>
  ingresses.map(({ ingress: { namespace, name } }) => `${namespace}/${name}`);

test("members stand by order, then by name; an order that is none is its Ingress's problem alone", () => {
  const group = load([
    inGroup("b/x"),
    inGroup("a/y"),
    inGroup("a/x"),
    inGroup("z/first", "-1000"),
    inGroup("a/last", "1000"),
    inGroup("a/bad", "1001"),
    inGroup("a/odd", "x"),
  ]);
  assert.deepEqual(keys(group.members), ["z/first", "a/bad", "a/odd", "a/x", "a/y", "b/x", "a/last"]);
  assert.deepEqual(
    group.members.filter(({ problem }) => problem).map(({ ingress: { name } }) => name),
    ["bad", "odd"],
  );
});

test("whoever has the finalizer and is in another group or deleted is leaving; whoever has not is nobody", () => {
  const finalizers = [finalizerOf(g)];
  const deleted = inGroup("a/deleted", undefined, { isDeleted: true, finalizers });
  const moved = ingress("a/moved", { annotations: { "group.name": "h" }, rest: { finalizers } });
  const misnamed = ingress("a/misnamed", { annotations: { "group.name": "H" }, rest: { finalizers } });
  const stranger = inGroup("a/stranger", undefined, { isDeleted: true });
  const group = load([deleted, moved, misnamed, stranger, inGroup("a/here")]);
  assert.deepEqual(keys(group.members), ["a/here"]);
  assert.deepEqual(
    group.leaving.map(({ name }) => name),
    ["deleted", "moved", "misnamed"],
  );
  assert.deepEqual(groupsFinalized(moved), [g]);
});

test("a class that vanishes takes nothing from an Ingress that has something, and gives nothing to one that has not", () => {
  const had = inGroup("a/had", undefined, { finalizers: [finalizerOf(g)] });
  const fresh = inGroup("a/fresh");
  const group = load([had, fresh, inGroup("a/other")], g, [had, fresh]);
  assert.deepEqual(
    group.members.map(({ ingress: { name }, problem }) => [name, problem]),
    [
      ["had", "no class"],
      ["other", undefined],
    ],
  );
  assert.deepEqual(group.leaving, []);
});

test("an Ingress that joined a group is leaving its own, and nobody else's", () => {
  const own: GroupId = { kind: "implicit", namespace: "a", name: "x" };
  const joined = inGroup("a/x", undefined, { finalizers: [finalizerOf(own)] });
  const other = inGroup("a/y", undefined, { finalizers: [finalizerOf(own)] });
  assert.deepEqual(
    load([joined, other], own).leaving.map(({ name }) => name),
    ["x"],
  );
  assert.deepEqual(keys(load([joined, other]).members), ["a/x", "a/y"]);
});
