import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { parseAuthorities } from "../../runtime/client-certificate.ts";
import { realWorld } from "../../runtime/world.ts";
import { hostOf } from "./configurations.ts";
import { planTrust, type WebhookTrust } from "./trust-plan.ts";

const { random } = realWorld();
const day = 24 * 3_600_000;
const start = Date.parse("2026-01-01T00:00:00Z");
const hosts = ["balancer-webhooks.kube-system.svc"];
const plan = (present: WebhookTrust | undefined, now: number, wanted = hosts) => planTrust(present, wanted, now, random);
const first = (): WebhookTrust => plan(undefined, start)!;

/** Whether an API server that trusts `bundle` believes this certificate. */
function believes(bundle: string, { cert }: WebhookTrust, now: number): boolean {
  const leaf = new X509Certificate(cert);
  const inTime = leaf.validFromDate.getTime() <= now && now < leaf.validToDate.getTime();
  return inTime && parseAuthorities(bundle).some((each) => each.validToDate.getTime() > now && leaf.verify(each.publicKey));
}

test("the first certificate is one that its own authority vouches for, and stays as it is", () => {
  const made = first();
  assert.ok(believes(made.authorities, made, start));
  assert.equal(new X509Certificate(made.cert).checkHost(hosts[0]!), hosts[0]);
  assert.equal(plan(made, start + 59 * day), undefined);
});

test("a certificate is replaced in its last month, by the same authority; for other names at once", () => {
  const made = first();
  const next = plan(made, start + 61 * day)!;
  assert.notEqual(next.cert, made.cert);
  assert.equal(next.authorities, made.authorities);
  const moved = plan(made, start + day, ["127.0.0.1", "other.svc"])!;
  assert.equal(new X509Certificate(moved.cert).checkIP("127.0.0.1"), "127.0.0.1");
});

test("over three years no API server that reads the bundle within an hour ever refuses a certificate, and no authority is kept for ever", () => {
  let trust = first();
  let published = trust.authorities;
  let authorities = 1;
  for (let now = start; now < start + 1_095 * day; now += 3 * day) {
    const next = plan(trust, now);
    if (next === undefined) continue;
    if (parseAuthorities(next.authorities)[0]!.subject !== parseAuthorities(trust.authorities)[0]!.subject) authorities++;
    assert.ok(believes(published, next, now) || next.authorities !== published, "what is served is known already, or is new");
    assert.ok(believes(next.authorities, trust, now) || new X509Certificate(trust.cert).validToDate.getTime() <= now);
    published = next.authorities;
    trust = next;
    assert.ok(parseAuthorities(trust.authorities).length <= 2);
    assert.ok(believes(published, trust, now));
  }
  assert.ok(authorities > 3);
});

test("a new authority signs nothing before API servers have had an hour to read of it", () => {
  const made = first();
  const late = start + 246 * day;
  const renewed = plan(made, start + 240 * day)!;
  const rotated = plan(renewed, late)!;
  assert.equal(parseAuthorities(rotated.authorities).length, 2);
  assert.equal(rotated.cert, renewed.cert, "signed by the one before");
  assert.equal(plan(rotated, late + 30 * 60_000), undefined);
  const settled = plan(rotated, late + 61 * 60_000)!;
  assert.notEqual(settled.cert, renewed.cert);
  assert.ok(believes(rotated.authorities, settled, late + 61 * 60_000), "known for an hour");
});

test("a Secret that somebody has spoiled is made anew", () => {
  const made = first();
  for (const spoiled of [{ authorities: "none" }, { authorityKey: "none" }, { cert: "none" }, { key: first().key }]) {
    const next = plan({ ...made, ...spoiled }, start + day)!;
    assert.ok(believes(next.authorities, next, start + day), `${Object.keys(spoiled)}`);
    assert.equal(plan(next, start + day), undefined, "once");
  }
  const { authorities, cert, key } = plan({ ...made, authorityKey: "none" }, start + day)!;
  assert.equal(parseAuthorities(authorities).length, 2, "a new authority joins the one whose key is lost");
  assert.deepEqual([cert, key], [made.cert, made.key]);
  const other = plan({ ...made, cert: "none" }, start + day)!;
  assert.ok(believes(made.authorities, other, start + day));
});

test("a certificate names what API servers call: a Service, or the host of an URL", () => {
  const name = "w";
  assert.equal(hostOf({ name, clientConfig: { service: { name: "hooks", namespace: "kube-system" } } }), "hooks.kube-system.svc");
  assert.equal(hostOf({ name, clientConfig: { url: "https://127.0.0.1:9443/x" } }), "127.0.0.1");
  assert.equal(hostOf({ name, clientConfig: { url: "https://[::1]:9443/x" } }), "::1");
  assert.equal(hostOf({ name }), undefined);
});
