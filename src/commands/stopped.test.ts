/** How the commands of people end when a signal asks them to: as docs/operate.md says, and never as a crash. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Stopped } from "../process/exit.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { run as doctor } from "./doctor.ts";
import { failure } from "./failure.ts";

function listener() {
  let err = "";
  const console = {
    out() {},
    err: (text: string) => {
      err += text;
    },
    columns: 0,
    watched: false,
  };
  return { console, said: () => err };
}

for (const [signal, status] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  test(`doctor ends with ${status} on ${signal}`, async () => {
    const { console, said } = listener();
    const world = virtualWorld(1, { files: {}, environment: {} });
    assert.equal(await doctor({ argv: [], world, console, stopSignal: () => AbortSignal.abort(new Stopped(signal)) }), status);
    assert.equal(said(), `fairlead doctor: received ${signal}\n`);
  });

  test(`what fails because of ${signal} is told by it, however it was wrapped`, () => {
    const { console, said } = listener();
    const wrapped = new Error("GET /api/v1/nodes failed", { cause: new Stopped(signal) });
    assert.equal(failure("plan", wrapped, console), status);
    assert.equal(said(), `fairlead plan: received ${signal}\n`);
  });
}
