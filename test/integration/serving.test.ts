import assert from "node:assert/strict";
import { test } from "node:test";
import { bed } from "../bed/bed.ts";

test("/metrics refuses a service account without permission and serves one with it; /healthz is open to all", async (t) => {
  const { cluster, controllerManager } = await bed(t);
  const scraper = await cluster.account("scraper", { nonResourceURLs: ["/metrics"], verbs: ["get"] });
  const stranger = await cluster.account("stranger", { apiGroups: [""], resources: ["pods"], verbs: ["get"] });
  const manager = await controllerManager();
  await manager.serves();

  assert.deepEqual(await manager.ask("/healthz"), { status: 200, text: "ok" });
  assert.equal((await manager.ask("/metrics", stranger.token)).status, 403);
  assert.equal((await manager.ask("/metrics")).status, 403);
  const served = await manager.ask("/metrics", scraper.token);
  assert.equal(served.status, 200);
  assert.match(served.text, /^leader_election_master_status\{name="cloud-controller-manager"\} [01]$/m);
  assert.equal((await manager.ask("/configz", scraper.token)).status, 403, "permission for one path is none for another");
});

test("a token that nobody issued is refused, and so is a good one with a letter changed", async (t) => {
  const { cluster, controllerManager } = await bed(t);
  const scraper = await cluster.account("scraper", { nonResourceURLs: ["/metrics"], verbs: ["get"] });
  const manager = await controllerManager();
  await manager.serves();
  const forged = scraper.token.replace(/.(.{10})$/, (_, end) => `${scraper.token.at(-11) === "A" ? "B" : "A"}${end}`);
  for (const token of ["made-up", forged]) assert.equal((await manager.ask("/metrics", token)).status, 401);
});
