import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, type Given, readRows, unknownKeys } from "./annotation-rows.ts";

const words = { unset: "", meaning: "" };
const table = {
  size: {
    ...words,
    takes: "a number",
    parse: (text: string, { key, takes }: Given) => (/^\d+$/.test(text) ? Number(text) : new Fault(`${key}=${text}: takes ${takes}`)),
  },
  colours: { ...words, takes: "names", parse: (text: string) => text.split(",") },
};
const read = (annotations: Record<string, string>) =>
  readRows(
    table,
    (name) => `x/${name}`,
    (name) => annotations[`x/${name}`],
    {},
  );

test("rows read their values, and what is absent stays absent", () => {
  const { values, problems } = read({ "x/size": "5" });
  const size: number | undefined = values.size;
  assert.deepEqual([size, values.colours, problems], [5, undefined, []]);
});

test("a value that cannot be read is a problem with its key, and the others are read all the same", () => {
  const { values, problems } = read({ "x/size": "big", "x/colours": "red,blue" });
  assert.deepEqual(problems, [{ annotation: "x/size", message: "x/size=big: takes a number" }]);
  assert.deepEqual([values.size, values.colours], [undefined, ["red", "blue"]]);
});

test("a key of the prefix that no row has is told of, with the one that was meant", () => {
  const unknown = unknownKeys({ "x/colour": "red", "x/other": "", "y/colour": "" }, "x/", Object.keys(table), (name) => name === "other");
  assert.deepEqual(unknown, [
    { annotation: "x/colour", message: "annotation x/colour is not known and has no effect: did you mean x/colours?" },
  ]);
});
