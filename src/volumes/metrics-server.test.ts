import assert from "node:assert/strict";
import { test } from "node:test";
import { freePort } from "../../test/bed/free-port.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { realWorld } from "../runtime/world.ts";
import { serveMetrics } from "./metrics-server.ts";

test("ten scrapes at once are answered, more of them refused until time has passed, and probes never", async () => {
  let seconds = 0;
  const clock = { ...realWorld().clock, monotonic: () => seconds * 1_000 };
  const address = `127.0.0.1:${await freePort()}`;
  const server = await serveMetrics(newRegistry(), clock, { address, certFile: "", keyFile: "" });
  try {
    const status = async (path: string) => (await fetch(`http://${address}${path}`)).status;
    const scrapes = async (count: number) => {
      const answers: number[] = [];
      while (answers.length < count) answers.push(await status("/metrics"));
      return answers;
    };
    assert.deepEqual(await scrapes(12), [...Array<number>(10).fill(200), 429, 429]);
    assert.equal(await (await fetch(`http://${address}/metrics`)).text(), "Rate limit exceeded\n");
    assert.deepEqual([await status("/healthz"), await status("/other")], [200, 404]);
    seconds = 1;
    assert.deepEqual(await scrapes(6), [200, 200, 200, 200, 200, 429]);
  } finally {
    server.close();
  }
});
