/** What a group says about WAF and Shield, put together. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bed, ingress, settings } from "./ingress.fixture.ts";
import type { ClassParams } from "./view.ts";

function of(rows: readonly Readonly<Record<string, string>>[], params?: ClassParams, given: Parameters<typeof bed>[0] = {}) {
  const members = rows.map((annotations, i) => ingress(`a/${"xyz"[i]}`, { annotations: { "group.name": "g", ...annotations } }));
  const { model, faults } = bed({ webAcl: (name) => (name === "known" ? { arn: "arn:known" } : undefined), ...given }).desire(
    ...members.map((each) => (params ? ([each, params] as const) : each)),
  );
  return { guards: model.guards, fault: (key: string) => faults.get(key)?.join("; ") ?? "" };
}

test("a web ACL: nobody, one, all, two that differ, and none", () => {
  assert.equal(of([{}]).guards, undefined);
  assert.deepEqual(of([{}, { "wafv2-acl-arn": "arn:1" }]).guards, { webAcl: "arn:1" });
  assert.deepEqual(of([{ "wafv2-acl-arn": "arn:1" }, { "wafv2-acl-arn": "arn:1" }]).guards, { webAcl: "arn:1" });
  const differ = of([{ "wafv2-acl-arn": "arn:1" }, { "wafv2-acl-arn": "arn:2" }]);
  assert.deepEqual([differ.guards, differ.fault("a/y")], [{ webAcl: "arn:1" }, "conflicting WAFv2 WebACL ARNs: arn:1 | arn:2"]);
  assert.deepEqual(of([{ "wafv2-acl-arn": "none" }]).guards, { webAcl: "" });
  assert.equal(of([{ "wafv2-acl-arn": "" }]).guards, undefined, "an empty one says nothing: only `none` takes one away");
  assert.deepEqual(of([{ "wafv2-acl-arn": "" }, { "wafv2-acl-arn": "arn:1" }]).guards, { webAcl: "arn:1" });
});

test("a web ACL by name goes before one by ARN, the class's before the annotation's; one that is not there is told", () => {
  assert.deepEqual(of([{ "wafv2-acl-name": "known", "wafv2-acl-arn": "arn:1" }]).guards, { webAcl: "arn:known" });
  assert.deepEqual(of([{ "wafv2-acl-name": "other" }], { name: "p", wafv2AclName: "known" }).guards, { webAcl: "arn:known" });
  assert.deepEqual(of([{ "wafv2-acl-arn": "arn:1" }], { name: "p", wafv2AclArn: "arn:9" }).guards, { webAcl: "arn:9" });
  assert.deepEqual(of([{ "wafv2-acl-name": "none" }]).guards, { webAcl: "" });
  assert.deepEqual(of([{ "wafv2-acl-name": "", "wafv2-acl-arn": "arn:1" }]).guards, { webAcl: "arn:1" });
  assert.equal(of([{ "wafv2-acl-name": "other" }]).fault("a/x"), "couldn't find WAFv2 WebACL with name: other");
  const denied = { webAcl: () => ({ problem: "AccessDenied" }) };
  assert.match(of([{ "wafv2-acl-name": "known" }], undefined, denied).fault("a/x"), /with name: known: AccessDenied/, "with AWS's reason");
  assert.match(of([{ "wafv2-acl-name": "known" }, { "wafv2-acl-name": "other" }]).fault("a/y"), /conflicting WAFv2 WebACL names/);
});

test("WAF Classic, under its name and its old one, and Shield: conflicts are told, and what a flag switches off is not asked for", () => {
  assert.deepEqual(of([{ "web-acl-id": "old" }]).guards, { classicWebAcl: "old" });
  assert.deepEqual(of([{ "waf-acl-id": "new", "web-acl-id": "old" }]).guards, { classicWebAcl: "new" });
  assert.equal(of([{ "waf-acl-id": "" }]).guards, undefined);
  assert.match(of([{ "waf-acl-id": "1" }, { "waf-acl-id": "2" }]).fault("a/y"), /conflicting WAFClassic WebACL IDs/);
  assert.deepEqual(of([{ "shield-advanced-protection": "false" }]).guards, { shield: false });
  const shields = [{ "shield-advanced-protection": "true" }, { "shield-advanced-protection": "false" }];
  assert.match(of(shields).fault("a/y"), /conflicting enable shield advanced protection/);
  const off = { settings: { ...settings, guards: [] } };
  assert.equal(of([{ "wafv2-acl-arn": "arn:1", "shield-advanced-protection": "true" }], undefined, off).guards, undefined);
});
