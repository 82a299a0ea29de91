import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { defaultMigration, lockOf, MigrationConfigInvalid, parseMigrationConfig, readMigrationConfig, unknownNames } from "./migration.ts";

const me = "cloud-controller-manager";
const controllers = [
  { name: "cloud-node-controller", alsoKnownAs: ["cloud-node"] },
  { name: "cloud-node-lifecycle-controller", alsoKnownAs: ["cloud-node-lifecycle"] },
  { name: "node-route-controller", alsoKnownAs: ["route", "route-controller"] },
  { name: "service-lb-controller", alsoKnownAs: ["service", "service-controller"] },
] as const;
const [node, lifecycle, route, service] = controllers;

function file(fields: string, version = "v1"): string {
  return `apiVersion: controllermanager.config.k8s.io/${version}\nkind: LeaderMigrationConfiguration\n${fields}`;
}

const good = "leaderName: migration\ncontrollerLeaders:\n- {name: cloud-node-lifecycle-controller, component: '*'}\n";

test("a file in YAML and the same in JSON are read", () => {
  const expected = { leaderName: "migration", controllerLeaders: [{ name: "cloud-node-lifecycle-controller", component: "*" }] };
  assert.deepEqual(parseMigrationConfig(file(good)), expected);
  const json = JSON.stringify({ apiVersion: "controllermanager.config.k8s.io/v1", kind: "LeaderMigrationConfiguration", ...expected });
  assert.deepEqual(parseMigrationConfig(json), expected);
  for (const version of ["v1beta1", "v1alpha1"])
    assert.deepEqual(parseMigrationConfig(file(`resourceLock: leases\n${good}`, version)), expected);
});

for (const [what, text, message] of [
  ["a lock in v1", file(`resourceLock: leases\n${good}`), 'strict decoding error: unknown field "resourceLock"'],
  [
    "no lock in v1beta1",
    file(good, "v1beta1"),
    "failed to parse leader migration configuration: [resourceLock: Invalid value: \"\": resource Lock must be one of 'leases' or 'endpoints']",
  ],
  [
    "a lock on endpoints",
    file(`resourceLock: endpoints\n${good}`, "v1alpha1"),
    "error creating lock: endpoints lock is removed, migrate to leases",
  ],
  [
    "nothing that is required",
    file("controllerLeaders: [{}, {name: a}]"),
    "failed to parse leader migration configuration: [leaderName: Required value: leaderName must be set for LeaderMigrationConfiguration, " +
      "controllerLeaders[0].component: Required value: component must be set, controllerLeaders[0].name: Required value: name must be set, " +
      "controllerLeaders[1].component: Required value: component must be set]",
  ],
  ["unknown fields", file(`${good}extra: 1\n`), 'strict decoding error: unknown field "extra"'],
  [
    "unknown fields of an entry",
    file("leaderName: a\ncontrollerLeaders: [{name: a, component: b, x: 1}]"),
    'strict decoding error: unknown field "controllerLeaders[0].x"',
  ],
  [
    "another version",
    file(good, "v2"),
    'no kind "LeaderMigrationConfiguration" is registered for version "controllermanager.config.k8s.io/v2" (expected LeaderMigrationConfiguration in ' +
      "controllermanager.config.k8s.io/v1, controllermanager.config.k8s.io/v1beta1, controllermanager.config.k8s.io/v1alpha1)",
  ],
  ["a number for a name", file("leaderName: 7"), "leaderName must be a string, but is 7"],
  [
    "an object for the list",
    file("leaderName: a\ncontrollerLeaders: {}"),
    "controllerLeaders must be a list of objects with name and component",
  ],
  ["nothing at all", "", "Object 'Kind' is missing in \"\""],
] as const) {
  test(`a file with ${what} is refused in the reference's words`, () => {
    assert.throws(() => parseMigrationConfig(text), { name: "MigrationConfigInvalid", message });
  });
}

test("text that is no YAML, and a key given twice, are refused with the place", () => {
  assert.throws(() => parseMigrationConfig("{"), MigrationConfigInvalid);
  assert.throws(() => parseMigrationConfig(file("leaderName: a\nleaderName: b\n")), /Map keys must be unique at line 4/);
});

test("a file that cannot be read is named", async () => {
  const { files } = virtualWorld(1);
  await assert.rejects(readMigrationConfig(files, "/etc/migration.yaml"), {
    name: "MigrationConfigInvalid",
    message:
      "unable to read leader migration configuration from \"/etc/migration.yaml\": ENOENT: no such file or directory, open '/etc/migration.yaml'",
  });
  await files.write("/etc/migration.yaml", file(good), 0o644);
  assert.equal((await readMigrationConfig(files, "/etc/migration.yaml")).leaderName, "migration");
});

test("the built-in default migrates all three, by today's names", () => {
  assert.equal(defaultMigration.leaderName, "cloud-provider-extraction-migration");
  assert.deepEqual(
    [node, lifecycle, route, service].map((controller) => lockOf(controller, me, defaultMigration)),
    ["main", "migration", "migration", "migration"],
  );
});

test("a controller listed for another program does not run here", () => {
  const config = parseMigrationConfig(
    file(
      "leaderName: a\ncontrollerLeaders:\n- {name: service-lb-controller, component: kube-controller-manager}\n- {name: route, component: cloud-controller-manager}\n",
    ),
  );
  assert.deepEqual(
    [node, route, service].map((controller) => lockOf(controller, me, config)),
    ["main", "migration", "not here"],
  );
});

test("names that no controller here has are told, unless they are another program's business", () => {
  const config = parseMigrationConfig(
    file(
      "leaderName: a\ncontrollerLeaders:\n- {name: nod-route, component: '*'}\n- {name: node-ipam, component: kube-controller-manager}\n",
    ),
  );
  assert.deepEqual(unknownNames(config, me, controllers), ["nod-route"]);
  assert.deepEqual(unknownNames(defaultMigration, me, controllers), []);
});
