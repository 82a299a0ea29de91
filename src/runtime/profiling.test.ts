import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

test("with its switch on, the heap is dumped in V8's form", async (t) => {
  // A thread has a heap of its own: that of this process holds whatever the tests before this one left.
  const dump = `
    import { text } from "node:stream/consumers";
    import { parentPort } from "node:worker_threads";
    import { profilingRoutes } from ${JSON.stringify(import.meta.resolve("./profiling.ts"))};
    const heap = profilingRoutes({ heapDumps: true }).find(({ path }) => path === "/debug/pprof/heap");
    const { status, body } = await heap.answer();
    parentPort.postMessage({ status, dump: JSON.parse(await text(body)) });
  `;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(dump)}`), { execArgv: [] });
  t.after(() => worker.terminate());
  const [told] = await once(worker, "message");
  assert.equal(told.status, 200);
  assert.ok(told.dump.snapshot.node_count > 1000);
});
