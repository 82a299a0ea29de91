/**
 * A replica that does nothing but lead and write: it patches one Node as often as it can, whether or not it still leads,
 * so that only the gate keeps it from writing. SIGUSR2 stalls its event loop.
 *
 *     node replica.ts <name> <kubeconfig> <node> <timings>
 */
import { nodes } from "../../src/kube/builtin.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { loadKubeConfig } from "../../src/kube/config/load.ts";
import { leaseStore } from "../../src/kube/lease-store.ts";
import { Election } from "../../src/runtime/election.ts";
import type { ElectionTimings } from "../../src/runtime/election-timings.ts";
import { openGate } from "../../src/runtime/gate.ts";
import { sleep } from "../../src/runtime/world.ts";
import { testHost } from "../bed/world.ts";

const [name = "", kubeconfig = "", node = "", timingsText = "{}"] = process.argv.slice(2);
const timings = JSON.parse(timingsText) as ElectionTimings;
const host = testHost();
const client = new KubeClient({
  host,
  config: await loadKubeConfig(host.world, { kubeconfig }),
  gate: openGate(),
  userAgent: name,
});
const lease = { namespace: "kube-system", name: "cloud-controller-manager", renewDeadlineMs: timings.renewDeadlineMs };
const election = new Election(host, { store: leaseStore(client, lease), identity: name, timings, name: lease.name, lostMessage: "lost" });

process.on("SIGUSR2", () => {
  const until = performance.now() + 1.5 * timings.leaseDurationMs;
  while (performance.now() < until);
  console.log("stalled and back");
});

console.log("up");
await election.lead(new AbortController().signal);
console.log("leading");
const writer = client.as({ gate: election.gate });
let refusals = 0;
for (let count = 1; ; count++) {
  try {
    await writer.patch(nodes, { name: node }, { merge: { metadata: { annotations: { writer: name, count: String(count) } } } });
  } catch {
    if (!election.leading() && ++refusals % 50 === 0) console.log(`refused ${refusals}`);
  }
  await sleep(host.world.clock, 5);
}
