import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "./nearest.ts";

test("a typo finds the word it meant, and a different word finds nothing", () => {
  const words = ["cloud-provider", "cloud-config", "cluster-name", "tags"];
  assert.equal(nearest("clowd-provider", words), "cloud-provider");
  assert.equal(nearest("cloud-cnofig", words), "cloud-config");
  assert.equal(nearest("Cluster-Name", words), "cluster-name");
  assert.equal(nearest("tgas", words), "tags");
  assert.equal(nearest("port", words), undefined);
  assert.equal(nearest("", words), undefined);
});

test("of two equally close words the first of the table is named", () => {
  assert.equal(nearest("vx", ["va", "vb"]), "va");
});
