import assert from "node:assert/strict";
import { test } from "node:test";
import { newListenerAttribute } from "../application/default-attributes.ts";
import { bed, ingress } from "./ingress.fixture.ts";
import { concernedBy, setAttributesOf, withResets } from "./resets.ts";

const asked = {
  "load-balancer-attributes": "idle_timeout.timeout_seconds=90,access_logs.s3.bucket=logs",
  "target-group-attributes": "stickiness.enabled=true",
  "listener-attributes.HTTP-80": "routing.http.response.server.enabled=false",
  "minimum-load-balancer-capacity": "CapacityUnits=9",
};
const modelOf = (annotations: Readonly<Record<string, string>>) => bed().desire(ingress("a/x", { annotations })).model;

test("what a model sets is told, and what has to be read for it", () => {
  const model = modelOf(asked);
  const [{ name = "" } = {}] = model.targetGroups;
  const set = setAttributesOf(model);
  assert.deepEqual(set, [
    "capacity",
    "listener 80 routing.http.response.server.enabled",
    "load-balancer access_logs.s3.bucket",
    "load-balancer idle_timeout.timeout_seconds",
    `target-group ${name} stickiness.enabled`,
  ]);
  assert.deepEqual(concernedBy(set), { attributes: true, capacity: true, targetGroupAttributes: true, listenerAttributes: [80] });
  assert.deepEqual(concernedBy([]), { attributes: false, capacity: false, targetGroupAttributes: false, listenerAttributes: [] });
});

test("what was set and is not asked for any more has AWS's value; what has none, and what is asked for, stays as it is", () => {
  const set = setAttributesOf(modelOf(asked));
  const { attributes, capacity, listeners, targetGroups } = withResets(modelOf({}), set);
  assert.deepEqual(
    [attributes, capacity, listeners[0]?.attributes, targetGroups[0]?.attributes],
    [{ "idle_timeout.timeout_seconds": "60" }, 0, { "routing.http.response.server.enabled": "true" }, { "stickiness.enabled": "false" }],
  );
  const same = modelOf(asked);
  assert.deepEqual(withResets(same, set), same);
  assert.equal(withResets(same, []), same);
});

test("while somebody is not understood nothing is reset", () => {
  const set = setAttributesOf(modelOf(asked));
  const model = { ...modelOf({}), keepsUnclaimed: { prefixes: ["a/y-"] } };
  assert.equal(withResets(model, set), model);
});

test("values of listeners", () => {
  const keys = {
    "routing.http.request.x_amzn_mtls_clientcert_serial_number.header_name": "X-Amzn-Mtls-Clientcert-Serial-Number",
    "routing.http.response.server.enabled": "true",
    "routing.http.response.x_frame_options.header_value": "",
    "something.new": undefined,
  };
  for (const [key, value] of Object.entries(keys)) assert.equal(newListenerAttribute(key), value);
});
