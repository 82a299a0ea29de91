import assert from "node:assert/strict";
import { test } from "node:test";
import { parseOptions } from "./options.ts";
import { settingFields, settingLines } from "./shown-settings.ts";

const { options } = parseOptions(
  ["--node-name=n", "--webhook-url=https://hooks/T0KEN", '--webhook-headers={"X":"S3CRET"}', "--event-policies=rebalance=cordon"],
  {},
);

test("for JSON: a field per setting, with underscores, and none of the webhook's", () => {
  const fields = settingFields(options);
  assert.equal(fields.node_name, "n");
  assert.equal(fields.node_termination_grace_period, 120);
  assert.equal(fields.check_tag_before_draining, true);
  assert.equal(fields.ManagedTag, "aws-node-termination-handler/managed");
  assert.deepEqual(fields.event_policies, { rebalance: "cordon" });
  for (const name of ["webhook_url", "webhook_headers", "webhook_template", "grace_period", "managed_asg_tag", "help"]) {
    assert.ok(!Object.hasOwn(fields, name), name);
  }
});

test("for people: a line per setting, which says that there is a webhook and not where", () => {
  const lines = settingLines(options);
  assert.ok(lines.includes("node-name: n"));
  assert.ok(lines.includes("event-policies: [rebalance=cordon]"));
  assert.ok(lines.includes("webhook-url: <provided-not-displayed>"));
  assert.ok(lines.includes("webhook-headers: <not-displayed>"));
  assert.ok(lines.includes("webhook-template: <not-displayed>"));
  assert.ok(settingLines(parseOptions(["--node-name=n"], {}).options).includes("webhook-url: "));
});

test("no secret is shown", () => {
  assert.doesNotMatch(JSON.stringify([settingFields(options), settingLines(options)]), /T0KEN|S3CRET/);
});
