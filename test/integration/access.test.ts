/** Who may ask the process, who it is to the API server, and what it tells nobody. One API server serves these few. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes, serviceAccounts } from "../../src/kube/builtin.ts";
import { isApiError } from "../../src/kube/errors.ts";
import { asServiceAccount } from "../../src/kube/service-account-credentials.ts";
import { assertNoSecrets, bed, eventually, plant, readables } from "../bed/bed.ts";

// First, because it has to lead: processes that a test kills keep their lease for a while.
test("with everything logged and everything going wrong, no token, key or password reaches a log or an Event", async (t) => {
  const { cluster, controllerManager } = await bed(t);
  const proxy = await cluster.faultProxy();
  const manager = await controllerManager(
    ["-v=10", "--leader-elect-retry-period=500ms", "--leader-elect-renew-deadline=3s", "--leader-elect-lease-duration=4s"],
    {
      server: proxy.url,
    },
  );
  await manager.serves();
  await manager.leads();

  const stranger = await cluster.account("stranger", { apiGroups: [""], resources: ["pods"], verbs: ["get"] });
  for (const token of [stranger.token, plant("planted-token-that-nobody-issued"), plant("planted token, ill-formed\t")]) {
    await manager.ask(`/metrics?token=${encodeURIComponent(token)}`, token.trim()).catch(() => {});
  }
  for (const fault of [{ kind: "answer", status: 500 }, { kind: "answer", status: 401 }, { kind: "reset" }] as const) {
    proxy.strike({ fault, times: 4 });
    await manager.ask("/metrics", stranger.token).catch(() => {});
  }
  // Its next renewals of the lease meet them, if nothing else does.
  await manager.says(/"level":"error".*fault proxy/);
  manager.signal("SIGTERM");
  await manager.exit();
  const texts = await readables(cluster);
  assert.ok(
    texts.some(({ name }) => name.startsWith("Event ")),
    "there are Events",
  );
  assertNoSecrets(texts);
});

test("refused credentials are not repeated in the refusal", async (t) => {
  const { cluster, fairlead } = await bed(t);
  const path = await cluster.kubeconfigWith("expired", { token: plant("planted-token-long-expired-and-refused") });
  const run = await fairlead(["controller-manager", "--cloud-provider=aws", `--kubeconfig=${path}`, "--secure-port=0", "-v=10"], {
    environment: { AWS_REGION: "us-west-2", AWS_EC2_METADATA_DISABLED: "true", AWS_SECRET_ACCESS_KEY: plant("planted-key-without-an-id") },
  });
  await run.says(/[Uu]nauthorized|401|credential/);
  assertNoSecrets(await readables(cluster));
});

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

test("with the roles that we ship, each controller gets an identity of its own, made when it is missing", async (t) => {
  const { cluster } = await bed(t);
  const [node] = await cluster.nodes(1);
  const base = await (await cluster.fairlead()).client();
  const controller = asServiceAccount(base, { namespace: "kube-system", name: "node-controller", userAgent: "node-controller" });
  await controller.patch(nodes, node!, { merge: { metadata: { labels: { seen: "yes" } } } });
  assert.ok(await cluster.admin.get(serviceAccounts, { namespace: "kube-system", name: "node-controller" }));
  await eventually(async () => {
    const users = (await cluster.writes()).filter(({ name, verb }) => name === node!.name && verb === "patch").map(({ user }) => user);
    assert.equal(users.at(-1), "system:serviceaccount:kube-system:node-controller");
  });
});

test("the roles that we ship give no token for anybody else", async (t) => {
  const { cluster } = await bed(t);
  await cluster.admin.create(serviceAccounts, { metadata: { namespace: "kube-system", name: "powerful" } });
  const base = await (await cluster.fairlead()).client();
  const thief = asServiceAccount(base, { namespace: "kube-system", name: "powerful", userAgent: "thief" });
  await assert.rejects(thief.list(nodes), (error) => isApiError(error, "forbidden"));
});
