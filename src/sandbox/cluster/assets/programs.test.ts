import assert from "node:assert/strict";
import { test } from "node:test";
import { moduleFile } from "./build.ts";
import { isOlder, versionIn } from "./programs.ts";

test("versions are read from what programs print and compared number by number", () => {
  assert.equal(versionIn("etcd Version: 3.4.30\nGit SHA: Not provided\nGo Version: go1.22.2"), "3.4.30");
  assert.equal(versionIn("Kubernetes v1.36.3\n"), "1.36.3");
  assert.equal(versionIn("no idea"), undefined);
  assert.ok(isOlder("3.4.30", "3.5.13"));
  assert.ok(isOlder("3.5.9", "3.5.13"));
  assert.ok(!isOlder("3.5.13", "3.5.13"));
  assert.ok(!isOlder("4.0.0", "3.5.13"));
});

test("each part that Kubernetes keeps in its own tree is replaced by the release cut from that tree", () => {
  const itsModFile =
    "module k8s.io/kubernetes\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/x/y v0.0.0-2020\n\tk8s.io/api v0.0.0\n\tk8s.io/kms v0.0.0 // indirect\n)\n";
  assert.equal(
    moduleFile("k8s.io/kubernetes", "1.36.3", itsModFile),
    [
      "module assets",
      "go 1.26.0",
      "require k8s.io/kubernetes v1.36.3",
      "replace k8s.io/api => k8s.io/api v0.36.3",
      "replace k8s.io/kms => k8s.io/kms v0.36.3",
      "",
    ].join("\n"),
  );
});
