/** The exchanges on the embedded API alone: that each gets the answers it expects. The comparison is an integration test. */
import { test } from "node:test";
import { realWorld } from "../../../src/runtime/world.ts";
import { createEmbeddedCluster } from "../../../src/sandbox/cluster/embedded/cluster.ts";
import { exchanges, hold } from "./index.ts";

const cluster = createEmbeddedCluster({ world: realWorld(), housekeeping: false });
const partner = { send: cluster.send, server: new URL("http://embedded"), compact: async () => cluster.compact() };

for (const exchange of exchanges) {
  test(`embedded: ${exchange.name}`, async () => {
    await hold(exchange, partner);
  });
}
