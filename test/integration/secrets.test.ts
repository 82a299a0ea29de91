import assert from "node:assert/strict";
import { test } from "node:test";
import { assertNoSecrets, bed, plant, readables } from "../bed/bed.ts";

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
  for (const fault of [{ kind: "reset" }, { kind: "answer", status: 500 }, { kind: "answer", status: 401 }] as const) {
    proxy.strike({ fault, times: 4 });
    await manager.ask("/metrics", stranger.token).catch(() => {});
  }
  manager.signal("SIGTERM");
  await manager.exit();
  assert.match(await manager.logs(), /"level":"error".*fault proxy/, "trouble was logged");
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
