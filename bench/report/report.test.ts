import assert from "node:assert/strict";
import { test } from "node:test";
import type { Figures } from "../bed/figures.ts";
import { charts } from "./charts.ts";
import { judged } from "./goals.ts";
import { middle, type Results, spread } from "./results.ts";
import { rows } from "./table.ts";

function run(seconds: number, calls: number): Figures {
  return { seconds, calls: { "ec2:DescribeInstances": calls }, peakMb: 100, cpuSeconds: 2 };
}

const results: Results = {
  machine: "a machine",
  scenarios: {
    "nodes-1000": {
      date: "2026-01-02T03:04:05.000Z",
      commit: "0123456789abcdef",
      node: "v26.0.0",
      loads: [0.5],
      entrants: {
        reference: { initialise: [run(30, 90), run(33, 90), run(31, 99)] },
        fairlead: { initialise: [run(12, 10), run(9, 10), run(10, 11)] },
      },
    },
  },
};

test("the figures shown are those of the run in the middle by time, whole", () => {
  assert.deepEqual(middle([run(3, 1), run(1, 2), run(2, 3)]), run(2, 3));
  assert.deepEqual(middle([run(2, 1), run(1, 7)]), run(1, 7));
});

test("runs that lie apart show by how much, and a single run shows nothing", () => {
  assert.deepEqual(spread([run(10, 100), run(12, 110)]), { time: 0.2, calls: 0.1 });
  assert.deepEqual(spread([run(10, 0), run(10, 0)]), { time: 0, calls: 0 });
  assert.equal(spread([run(10, 100)]), undefined);
});

test("a table has a row for each program and step, and a dash where nothing was measured", () => {
  const [reference = [], fairlead = []] = rows(results.scenarios["nodes-1000"]!);
  assert.deepEqual(reference.slice(0, 4), ["initialise", "Reference, tuned", "31.0 s", "99"]);
  assert.deepEqual(fairlead.slice(0, 4), ["initialise", "Fairlead", "10.0 s", "11"]);
  assert.equal(fairlead.at(-2), "–");
  assert.equal(fairlead.at(-1), "3, 33 % / 10 %");
});

test("a goal is judged by what was measured, and left out when nothing was", () => {
  assert.deepEqual(judged(results), [
    { goal: "1,000 nodes with provider IDs: initialised at 3 times the tuned reference's rate", measured: "3.1 times", met: true },
    { goal: "1,000 nodes with provider IDs: with a third of its calls", measured: "11 against 99 calls (11 %)", met: true },
  ]);
});

test("a chart draws a bar for every value, longest for the most", () => {
  const chart = charts(results).find(({ file }) => file === "nodes-time.svg")!;
  const lengths = [...chart.text.matchAll(/<rect x="250" y="\d+" width="([\d.]+)" height="14"/g)].map(([, width]) => Number(width));
  assert.equal(lengths.length, 2);
  assert.ok(Math.abs(lengths[1]! / lengths[0]! - 3.1) < 0.01);
  assert.match(chart.text, /31\.0 s/);
});
