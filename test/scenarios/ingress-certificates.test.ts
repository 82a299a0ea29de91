/** Certificates that are requested for Ingresses, proven in Route 53, put in front of listeners, and deleted. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { certificateGrants } from "../../src/doctor/certificate-grants.ts";
import { validationRecord } from "../../src/sandbox/cloud/acm/validation.ts";
import { type RecordSet, recordKey, recordsOf, zonesOf } from "../../src/sandbox/cloud/route53/state.ts";
import { type IngressWorld, ingressWorld } from "../bed/ingress-world.ts";
import { actionsIn, strictPolicy, usualPolicy } from "../bed/policies.ts";

const gate = "--feature-gates=IngressController=true,EnableCertificateManagement=true";

async function bed(t: TestContext, ...zones: readonly string[]): Promise<IngressWorld> {
  const world = await ingressWorld();
  t.after(() => world.close());
  for (const [i, name] of zones.entries()) zonesOf(world.aws.account).put(`Z${i}`, { id: `Z${i}`, name: `${name}.`, isPrivate: false });
  await world.service("web");
  await world.pods("web", 1);
  return world;
}

interface Certificate {
  readonly arn: string;
  readonly names: readonly string[];
  readonly status: string;
  readonly type: string;
  readonly authorityArn?: string;
  readonly tags: Readonly<Record<string, string>>;
}

const certificates = (world: IngressWorld) => world.all<Certificate>("acm/certificates");
const records = (world: IngressWorld) => world.all<RecordSet>("route53/records");
const attached = (world: IngressWorld) =>
  world.all<{ port: number; certificate?: string }>("elbv2/listeners").map(({ port, certificate }) => [port, certificate]);
const served = (world: IngressWorld, name: string, ms = 600_000) =>
  world.until(`${name} has an address`, () => world.hostname(name) !== "", ms);
const to = (...hosts: readonly string[]) => Object.fromEntries(hosts.map((host) => [host, ["Prefix / web:80"]]));
const asked = { "create-acm-cert": "true" };

test("a certificate is requested for the hosts, proven in the longest zone, and served on 443; it goes with the Ingress", async (t) => {
  const world = await bed(t, "example.com", "b.example.com");
  world.serve(gate, "--default-tags=team=core");
  await world.ingress("shop", to("x.b.example.com", "a.example.com"), { ...asked, tags: "team=mine" });
  await served(world, "shop");
  const [certificate, ...more] = certificates(world);
  assert.deepEqual([certificate?.names, certificate?.status, more], [["a.example.com", "x.b.example.com"], "ISSUED", []]);
  const { createHash } = await import("node:crypto");
  const part = `amazon_issued/a.example.com-${createHash("sha256").update("default/shop").digest("hex").slice(0, 8)}`;
  assert.deepEqual(certificate?.tags, {
    team: "core",
    "elbv2.k8s.aws/cluster": "test",
    "ingress.k8s.aws/stack": "default/shop",
    "ingress.k8s.aws/resource": part,
  });
  assert.deepEqual(attached(world), [[443, certificate?.arn]]);
  assert.deepEqual(
    records(world)
      .map(({ name, zone }) => [zone, name.replace(/^_[0-9a-f]+/, "_")])
      .toSorted(),
    [
      ["Z0", "_.a.example.com."],
      ["Z1", "_.x.b.example.com."],
    ],
  );
  assert.match(world.events("shop").join("\n"), /LoadBalancerWarning.*is not issued yet/);
  assert.doesNotMatch(world.events("shop").join("\n"), /Failed/);

  world.resetCalls();
  await world.drop("shop");
  await world.until("it is gone", () => world.get("shop") === undefined, 600_000);
  assert.deepEqual([certificates(world), records(world)], [[], []]);
});

test("the request is made once, whatever restarts in between, and a restart over it changes nothing", async (t) => {
  const world = await bed(t, "example.com");
  let end = world.serve(gate);
  await world.ingress("shop", to("a.example.com"), asked);
  await world.until("it is requested", () => certificates(world).length > 0, 60_000);
  end();
  end = world.serve(gate);
  await served(world, "shop");
  await world.world.advance(60_000);
  assert.equal(certificates(world).length, 1);
  end();
  world.resetCalls();
  world.serve(gate);
  await world.world.advance(300_000);
  assert.deepEqual(world.mutations(), {});
  const { ListCertificates, ListTagsForCertificate, DescribeCertificate, ListHostedZones } = world.calls();
  assert.deepEqual([ListCertificates, ListTagsForCertificate, DescribeCertificate, ListHostedZones], [1, 1, 1, 1]);
});

test("another host is another certificate: the old one serves until the new one is issued, and is deleted then", async (t) => {
  const world = await bed(t, "example.com");
  world.serve(gate);
  await world.ingress("shop", to("a.example.com"), asked);
  await served(world, "shop");
  const [old] = certificates(world);
  await world.change("shop", {}, to("a.example.com", "b.example.com"));
  await world.world.advance(60_000);
  const [fresh] = certificates(world).filter(({ arn }) => arn !== old?.arn);
  assert.deepEqual([fresh?.status, attached(world)], ["PENDING_VALIDATION", [[443, old?.arn]]]);
  assert.equal(world.all("elbv2/rules").length, 2, "the new host is served meanwhile");
  await world.world.advance(600_000);
  assert.deepEqual([certificates(world).map(({ arn }) => arn), attached(world)], [[fresh?.arn], [[443, fresh?.arn]]]);
  assert.equal(records(world).length, 2, "what proves the first host proves it for the new one too");
});

test("whoever waits for a certificate, or cannot have one, keeps nobody of its group waiting", async (t) => {
  const world = await bed(t, "example.com");
  world.aws.controls.change({ certificateValidationMs: undefined });
  world.serve(gate);
  const group = { "group.name": "shared" };
  await world.ingress("plain", to("p.example.com"), group);
  await world.ingress("waits", to("w.example.com"), { ...group, ...asked });
  await world.ingress("elsewhere", to("w.example.org"), { ...group, ...asked });
  await world.ingress("nameless", to("*"), { ...group, ...asked });
  await served(world, "plain");
  await world.world.advance(120_000);
  assert.deepEqual(
    attached(world).map(([port]) => port),
    [80],
  );
  assert.match(world.events("elsewhere").join(), /FailedBuildModel.*pre-check failed for domain "w.example.org": no hosted zone found/);
  assert.match(world.events("nameless").join(), /default\/nameless has create-acm-cert enabled but no hostnames defined/);
  assert.doesNotMatch(world.events("waits").join(), /FailedBuildModel/);
  assert.doesNotMatch(world.events("plain").join(), /Failed/);
  await world.drop("waits");
  await world.until("it is gone", () => world.get("waits") === undefined, 600_000);
  assert.deepEqual(certificates(world), []);
});

test("a private authority, of the Ingress or by default, needs no records; another one is another certificate", async (t) => {
  const world = await bed(t);
  const authority = (n: number) => `arn:aws:acm-pca:us-east-1:123456789012:certificate-authority/${n}`;
  world.serve(gate, `--default-pca-arn=${authority(1)}`);
  await world.ingress("shop", to("a.internal.example.com"), asked);
  await served(world, "shop");
  const [first] = certificates(world);
  assert.deepEqual([first?.type, first?.authorityArn, records(world)], ["PRIVATE", authority(1), []]);
  await world.change("shop", { "acm-pca-arn": authority(2) });
  await world.world.advance(300_000);
  assert.deepEqual(
    certificates(world).map(({ authorityArn }) => authorityArn),
    [authority(2)],
  );
});

test("a certificate that is named goes before; one that was requested is not found for others; a record that others need stays", async (t) => {
  const world = await bed(t, "example.com");
  const [given = ""] = await (async () => {
    zonesOf(world.aws.account).delete("Z0");
    const arns = await world.issue(["a.example.com"]);
    zonesOf(world.aws.account).put("Z0", { id: "Z0", name: "example.com.", isPrivate: false });
    return arns;
  })();
  world.serve(gate);
  await world.ingress("named", to("a.example.com"), { ...asked, "certificate-arn": given });
  await world.ingress("shop", to("a.example.com"), asked);
  await world.ingress("finds", to("a.example.com"), { "listen-ports": '[{"HTTPS":443}]' });
  for (const name of ["named", "shop", "finds"]) await served(world, name);
  const [own, ...others] = certificates(world).filter(({ arn }) => arn !== given);
  assert.deepEqual([others, attached(world).map(([, arn]) => arn === own?.arn)].flat().filter(Boolean), [true]);
  await world.drop("shop");
  await world.until("it is gone", () => world.get("shop") === undefined, 600_000);
  assert.deepEqual([certificates(world).map(({ arn }) => arn), records(world).length], [[given], 1]);
});

test("one that failed is told with AWS's reason and requested again an hour later, not before", async (t) => {
  const world = await bed(t, "example.com");
  world.serve(gate);
  await world.ingress("shop", to("a.example.com"), asked);
  await world.until("it is requested", () => certificates(world).length > 0, 60_000);
  const [first] = certificates(world);
  world.aws.account.store.table<Certificate>("acm/certificates").update(first!.arn, { status: "FAILED" });
  await world.world.advance(30 * 60_000);
  assert.match(world.events("shop").join(), /was not issued: FAILED/);
  assert.deepEqual(
    certificates(world).map(({ arn }) => arn),
    [first?.arn],
  );
  await served(world, "shop", 2 * 3_600_000);
  assert.deepEqual(
    certificates(world).map(({ arn, status }) => [arn === first?.arn, status]),
    [[false, "ISSUED"]],
  );
});

test("a request that AWS refuses is told to its Ingress, and tried again", async (t) => {
  const world = await bed(t, "example.com");
  world.aws.controls.change({ quotas: { namesPerCertificate: 1 } });
  world.serve(gate);
  await world.ingress("plain", to("p.example.com"));
  await world.ingress("shop", to("a.example.com", "b.example.com"), asked);
  await served(world, "plain");
  await world.world.advance(60_000);
  assert.match(world.events("shop").join(), /FailedBuildModel.*exceeded the limit of 1 domain names/);
  world.aws.controls.change({ quotas: { namesPerCertificate: 10 } });
  await served(world, "shop", 3_600_000);
});

const isGone = (world: IngressWorld, name: string, ms = 600_000) => world.until(`${name} is gone`, () => world.get(name) === undefined, ms);

/** The record that proves a host, with the time to live that people take. */
function writtenByHand(world: IngressWorld, host: string): RecordSet {
  const { Name, Type, Value } = validationRecord(world.aws.account, host);
  const record = { zone: "Z0", name: Name, type: Type, ttl: 300, values: [Value] };
  recordsOf(world.aws.account).put(recordKey(record), record);
  return record;
}

test("a record that somebody else has written is neither changed nor deleted, and the others of its certificate are both", async (t) => {
  const world = await bed(t, "example.com");
  const theirs = writtenByHand(world, "a.example.com");
  world.serve(gate);
  await world.ingress("shop", to("a.example.com", "b.example.com"), asked);
  await served(world, "shop");
  assert.deepEqual(
    records(world).map(({ ttl }) => ttl),
    [300, 60],
  );
  await world.drop("shop");
  await isGone(world, "shop");
  assert.deepEqual([certificates(world), records(world)], [[], [theirs]]);
});

test("a record that Route 53 refuses for another reason is told", async (t) => {
  const world = await bed(t, "example.com");
  world.serve(gate);
  await world.ingress("shop", to("a.example.com"), asked);
  await world.until("it is requested", () => certificates(world).length > 0, 60_000);
  const lift = world.aws.controls.deny("route53:ChangeResourceRecordSets");
  await world.world.advance(60_000);
  assert.match(world.events("shop").join(), /Failed.*ChangeResourceRecordSets/);
  lift();
  await served(world, "shop", 3_600_000);
});

test("a record that vanishes before AWS has seen it is written again", async (t) => {
  const world = await bed(t, "example.com");
  world.aws.controls.change({ certificateValidationMs: undefined });
  world.serve(gate);
  await world.ingress("shop", to("a.example.com"), asked);
  await world.until("it is proven", () => records(world).length > 0, 120_000);
  recordsOf(world.aws.account).delete(recordKey(records(world)[0]!));
  world.aws.controls.change({ certificateValidationMs: 60_000 });
  await served(world, "shop", 15 * 60_000);
});

test("a certificate that another load balancer uses keeps its records until it is let go of", async (t) => {
  const world = await bed(t, "example.com");
  world.serve(gate);
  await world.ingress("shop", to("a.example.com"), asked);
  await served(world, "shop");
  const [own] = certificates(world);
  await world.ingress("borrows", to("a.example.com"), { "certificate-arn": own!.arn });
  await served(world, "borrows");
  await world.drop("shop");
  await world.world.advance(20 * 60_000);
  assert.deepEqual([certificates(world).length, records(world).length], [1, 1], "AWS renews it by its record");
  assert.notEqual(world.get("shop"), undefined);
  const complaints = world.events("shop").filter((event) => event.includes("cannot be deleted"));
  const [borrower] = world.all<{ arn: string }>("elbv2/load-balancers");
  assert.deepEqual(complaints, [
    `Warning LoadBalancerWarning: certificate ${own!.arn} was requested for it and cannot be deleted, because ${borrower?.arn} uses it`,
  ]);
  await world.drop("borrows");
  await isGone(world, "shop");
  assert.deepEqual([certificates(world), records(world)], [[], []]);
});

test("a certificate that was given to somebody else is not deleted", async (t) => {
  const world = await bed(t, "example.com");
  world.serve(gate);
  await world.ingress("shop", to("a.example.com"), asked);
  await served(world, "shop");
  const [own] = certificates(world);
  world.aws.account.store.table<Certificate>("acm/certificates").update(own!.arn, { tags: { team: "other" } });
  await world.drop("shop");
  await isGone(world, "shop");
  assert.deepEqual([certificates(world).map(({ arn }) => arn), records(world).length], [[own?.arn], 1]);
});

test("one whose tags AWS does not tell yet is ours as soon as it does", async (t) => {
  const world = await bed(t, "example.com");
  world.serve(gate);
  await world.ingress("shop", to("a.example.com"), asked);
  world.aws.controls.faults.add({
    action: "acm:ListTagsForCertificate",
    times: 1,
    effect: { kind: "fail", code: "ResourceNotFoundException" },
  });
  await served(world, "shop");
  assert.equal(certificates(world).length, 1);
});

test("another scheme and another host at once: the certificate of the old load balancer does not keep it", async (t) => {
  const world = await bed(t, "example.com");
  world.serve(gate);
  await world.ingress("shop", to("a.example.com"), asked);
  await served(world, "shop");
  await world.change("shop", { scheme: "internet-facing" }, to("b.example.com"));
  await world.world.advance(40 * 60_000);
  assert.deepEqual(
    world.all<{ scheme: string }>("elbv2/load-balancers").map(({ scheme }) => scheme),
    ["internet-facing"],
  );
  assert.deepEqual(
    certificates(world).map(({ names }) => names),
    [["b.example.com"]],
  );
});

test("whoever leaves does not wait for the certificates of those who stay", async (t) => {
  const world = await bed(t, "example.com");
  world.aws.controls.change({ certificateValidationMs: undefined });
  world.serve(gate);
  const group = { "group.name": "shared" };
  await world.ingress("plain", to("p.example.com"), group);
  await served(world, "plain");
  await world.ingress("waits", to("w.example.com"), { ...group, ...asked });
  await world.world.advance(60_000);
  await world.drop("plain");
  await isGone(world, "plain");
  assert.deepEqual(world.all("elbv2/target-groups"), []);
  assert.doesNotMatch(world.events("waits").join(), /Failed/);
});

test("whoever leaves a group in which all wait takes its certificate along, and nobody else's", async (t) => {
  const world = await bed(t, "example.com");
  world.aws.controls.change({ certificateValidationMs: undefined });
  world.serve(gate);
  for (const name of ["stays", "leaves"]) await world.ingress(name, to(`${name}.example.com`), { ...asked, "group.name": "shared" });
  await world.until("both are proven", () => records(world).length === 2, 120_000);
  await world.drop("leaves");
  await isGone(world, "leaves");
  assert.deepEqual(
    certificates(world).map(({ names }) => names),
    [["stays.example.com"]],
  );
  assert.equal(records(world).length, 1);
});

test("whoever leaves does not wait until the mistake of another is put right, and its certificate goes then", async (t) => {
  const world = await bed(t, "example.com");
  let end = world.serve(gate);
  const group = { "group.name": "shared" };
  await world.ingress("stays", to("s.example.com"), { ...group, "listen-ports": '[{"HTTP":80}]' });
  await world.ingress("leaves", to("l.example.com"), { ...group, ...asked });
  await world.until("443 is served", () => attached(world).some(([port]) => port === 443), 600_000);
  end();
  await world.change("stays", { "load-balancer-attributes": "idle" });
  end = world.serve(gate);
  await world.world.advance(60_000);
  await world.drop("leaves");
  await isGone(world, "leaves");
  assert.ok(attached(world).some(([port]) => port === 80));
  await world.change("stays", { "load-balancer-attributes": null });
  await world.until("nothing is left of it", () => certificates(world).length === 0, 20 * 60_000);
  assert.deepEqual(records(world), []);
  assert.deepEqual(attached(world), [[80, undefined]]);
  // And when the one with the mistake goes instead of being put right.
  await world.ingress("leaves", to("l.example.com"), { ...group, ...asked });
  await world.until("443 is served again", () => attached(world).some(([port]) => port === 443), 600_000);
  end();
  await world.change("stays", { "load-balancer-attributes": "idle" });
  world.serve(gate);
  await world.drop("leaves");
  await isGone(world, "leaves");
  await world.drop("stays");
  await isGone(world, "stays");
  assert.deepEqual([certificates(world), records(world)], [[], []]);
});

for (const [name, policy] of Object.entries({ usual: usualPolicy, strict: strictPolicy })) {
  test(`the ${name} policies allow what it takes, and nothing that it does not`, async (t) => {
    const world = await bed(t, "example.com");
    const features = ["ingresses", "ingress-certificates", "target-group-bindings"];
    world.aws.controls.change({ policy: policy(world.aws, world.network, "test", ...features) });
    world.resetCalls();
    world.serve(gate);
    await world.ingress("shop", to("a.example.com"), asked);
    await served(world, "shop");
    await world.drop("shop");
    await world.until("it is gone", () => world.get("shop") === undefined, 600_000);
    assert.deepEqual(certificates(world), []);
    const unasked = new Set(certificateGrants.flatMap(({ also = [] }) => also));
    const granted = actionsIn("ingress-certificates").filter((action) => !unasked.has(action));
    const used = Object.keys(world.calls());
    assert.deepEqual(
      granted.filter((action) => !used.includes(action.split(":")[1] ?? "")),
      [],
    );
  });
}

test("a certificate that is issued is noticed in time, whatever mistake another of the group has made", async (t) => {
  const world = await bed(t, "example.com");
  world.aws.controls.change({ certificateValidationMs: 15 * 60_000 });
  world.serve(gate);
  const group = { "group.name": "shared" };
  await world.ingress("wrong", to("wrong.example.com"), { ...group, "backend-protocol": "SMTP" });
  await world.ingress("waits", to("w.example.com"), { ...group, ...asked });
  await world.until("it is issued", () => certificates(world)[0]?.status === "ISSUED", 30 * 60_000);
  await world.until("it is served", () => world.hostname("waits") !== "", 60_000);
});
