import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, encode, unknown, type Value } from "./msgpack.ts";

test("values come back from MessagePack as they went in, unknown ones too", () => {
  const value: Value = {
    nothing: null,
    yes: true,
    no: false,
    numbers: [0, 1, 127, 128, -1, -33, 70_000, -70_000, 2 ** 40, 0.5],
    text: "Zürich",
    long: "x".repeat(70_000),
    later: unknown,
    nested: { list: [{ a: unknown }], empty: [] },
  };
  assert.deepEqual(decode(encode(value)), value);
});

test("the short forms that OpenTofu writes are read", () => {
  const written = Buffer.from("84a161c3a162cd0100a16393a178ffd1ff00a164c70c0c00", "hex");
  assert.deepEqual(decode(Buffer.concat([written, Buffer.alloc(11)])), { a: true, b: 256, c: ["x", -1, -256], d: unknown });
  assert.throws(() => decode(Buffer.from([0xc1])), /0xc1 is not known/);
  assert.throws(() => decode(Buffer.from([0xd9, 5])), /ends too early/);
});
