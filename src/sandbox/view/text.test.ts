import assert from "node:assert/strict";
import { test } from "node:test";
import { keysIn } from "./terminal.ts";
import { type Column, cut, line, render, spread, table, wrap } from "./text.ts";

test("a line that is too wide is cut inside its last piece and ends with an ellipsis", () => {
  assert.equal(render(cut(line("replica ", ["good", "leads"]), 11), false), "replica le…");
  assert.equal(render(cut(line("replica"), 7), false), "replica");
  assert.equal(render(cut(line("replica"), 0), false), "");
});

test("two texts share a line; where they meet the first gives way", () => {
  assert.equal(render(spread(line("left"), line("right"), 20), false), "left           right");
  assert.equal(render(spread(line("a long text on the left"), line("right"), 20), false), "a long text o… right");
});

test("a table drops the columns of the highest rank until the rest fits, but never those of rank 1", () => {
  const column = (title: string, rank: number): Column<string> => ({ title, rank, cell: (row) => ({ text: row, style: "plain" }) });
  const columns = [column("A", 1), column("B", 3), column("C", 2)];
  const at = (width: number) => {
    const { heading, lines } = table(columns, ["wide", "x"], width);
    return [heading, ...lines].map((each) => render(each, false));
  };
  assert.deepEqual(at(20), ["A     B     C", "wide  wide  wide", "x     x     x"]);
  assert.deepEqual(at(10), ["A     C", "wide  wide", "x     x"]);
  assert.deepEqual(at(3), ["A", "wi…", "x"]);
});

test("words are wrapped, never broken", () => {
  assert.deepEqual(wrap("a machine joins a cluster", 10), ["a machine", "joins a", "cluster"]);
  assert.deepEqual(wrap("", 10), []);
});

test("keys are told apart, arrows in both of their forms, and sequences nobody knows are no keys", () => {
  assert.deepEqual(keysIn("t?\x1b[A\x1bOB\x1b[15~q\x03"), ["t", "?", "up", "down", "q", "ctrl-c"]);
});
