import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEndpoint } from "./endpoint.ts";

test("the forms of a socket's address are the same path", () => {
  for (const text of ["unix:///csi/csi.sock", "unix://csi/csi.sock", "unix:/csi/csi.sock"]) {
    assert.deepEqual(parseEndpoint(text), { kind: "unix", path: "/csi/csi.sock" });
  }
});

test("an address of a port is taken, and any other scheme refused by name", () => {
  assert.deepEqual(parseEndpoint("tcp://127.0.0.1:9999/"), { kind: "tcp", address: "127.0.0.1:9999" });
  assert.throws(() => parseEndpoint("http://csi.sock"), /unsupported protocol: http/);
  assert.throws(() => parseEndpoint("/csi/csi.sock"), /it has no scheme/);
});
