/** One bad Ingress of twenty that share a load balancer: the other nineteen serve throughout, and can be changed and deleted. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RuleCondition } from "@aws-sdk/client-elastic-load-balancing-v2";
import { type IngressWorld, ingressWorld, type Rules } from "../bed/ingress-world.ts";

const size = 20;
const bad = "in-07";
const nameOf = (number: number) => `in-${String(number).padStart(2, "0")}`;
const hostOf = (name: string) => `${name}.example.com`;
const shared = { "group.name": "teams", scheme: "internal" };

interface Mistake {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly rules?: Rules;
  /** What its author is told. */
  readonly says: RegExp;
}

const nowhere = "0123456789abcdef";
const missingGroup = `arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/none/${nowhere}`;
const missingCertificate = "arn:aws:acm:us-east-1:123456789012:certificate/11111111-2222-3333-4444-555555555555";
const json = JSON.stringify;

/** Those that anybody can see, and those that only AWS refuses. */
const mistakes: Readonly<Record<string, Mistake>> = {
  "JSON that is none": { annotations: { "listen-ports": "[" }, says: /failed to parse listen-ports configuration/ },
  "an unknown word": { annotations: { "target-type": "pods" }, says: /unknown targetType: pods|target-type/ },
  "a port that its Service does not have": {
    rules: { [hostOf(bad)]: ["Prefix / web:81"] },
    says: /unable to find port 81 on service default\/web/,
  },
  "a Secret that is not there": {
    annotations: {
      "listen-ports": '[{"HTTP":80},{"HTTPS":443}]',
      "certificate-arn": missingCertificate,
      "auth-type": "oidc",
      "auth-idp-oidc": json({
        issuer: "https://example.com",
        authorizationEndpoint: "https://example.com/a",
        tokenEndpoint: "https://example.com/t",
        userInfoEndpoint: "https://example.com/u",
        secretName: "none",
      }),
    },
    says: /secret/,
  },
  "a host without a certificate": {
    annotations: { "listen-ports": '[{"HTTPS":443}]' },
    says: /no certificate found for host: in-07.example.com/,
  },
  "conditions of two minds": {
    annotations: { "conditions.web": json([{ field: "host-header", hostHeaderConfig: { values: ["a"], regexValues: ["b"] } }]) },
    says: /precisely one of values and regexValues can be specified/,
  },
  "another scheme than the others": { annotations: { scheme: "internet-facing" }, says: /conflicting scheme/ },
  "other clients than the others": { annotations: { "inbound-cidrs": "10.0.0.0/33" }, says: /invalid CIDR address/ },
  "weights that are left out": {
    annotations: {
      "actions.split": json({
        type: "forward",
        forwardConfig: {
          targetGroups: [
            { serviceName: "web", servicePort: 80 },
            { serviceName: "api", servicePort: 80 },
          ],
        },
      }),
    },
    rules: { [hostOf(bad)]: ["Prefix / split:use-annotation"] },
    says: /weight must be set when route to multiple target groups/,
  },
  "a trust store of another name": {
    annotations: {
      "listen-ports": '[{"HTTPS":443}]',
      "certificate-arn": missingCertificate,
      "mutual-authentication": json([{ port: 443, mode: "verify", trustStore: "none" }]),
    },
    says: /couldn't find TrustStore/,
  },
  "a certificate that AWS does not have": {
    annotations: { "listen-ports": '[{"HTTPS":443}]', "certificate-arn": missingCertificate },
    says: /certificate/i,
  },
  "a target group that AWS does not have": {
    annotations: { "actions.gone": json({ type: "forward", targetGroupARN: missingGroup }) },
    rules: { [hostOf(bad)]: ["Prefix / gone:use-annotation"] },
    says: /target group/i,
  },
  "health checks more often than AWS makes them": { annotations: { "healthcheck-interval-seconds": "1" }, says: /interval/i },
  "an attribute that AWS does not know": { annotations: { "target-group-attributes": "no.such.attribute=1" }, says: /attribute/i },
  "more conditions than AWS takes": {
    annotations: {
      "conditions.web": json([
        { field: "host-header", hostHeaderConfig: { values: ["a", "b", "c", "d", "e", "f"].map((name) => `${name}.example.com`) } },
      ]),
    },
    says: /FailedDeployModel: .*condition/i,
  },
};

/** Hosts that are served, by priority. */
function served(world: IngressWorld): readonly (string | undefined)[] {
  const rules = world.all<{ priority: number; conditions: readonly RuleCondition[] }>("elbv2/rules");
  return rules
    .toSorted((a, b) => a.priority - b.priority)
    .map(({ conditions }) => conditions.find(({ Field }) => Field === "host-header")?.HostHeaderConfig?.Values?.[0]);
}

/** Those of which it matters that nothing of them ever stood. */
const fromTheStart = [
  "JSON that is none",
  "another scheme than the others",
  "a certificate that AWS does not have",
  "more conditions than AWS takes",
];

for (const [what, { annotations = {}, rules, says }] of Object.entries(mistakes)) {
  for (const when of ["later", ...(fromTheStart.includes(what) ? (["from the start"] as const) : [])] as const) {
    test(`one of twenty makes a mistake, ${when}: ${what}`, async (t) => {
      const world = await ingressWorld();
      t.after(() => world.close());
      for (const service of ["web", "api"]) {
        await world.service(service);
        await world.pods(service, 1);
      }
      world.serve();
      const names = Array.from({ length: size }, (_, i) => nameOf(i));
      const toWeb = (name: string): Rules => ({ [hostOf(name)]: ["Prefix / web:80"] });
      const isBad = (name: string) => name === bad && when === "from the start";
      for (const name of names)
        await world.ingress(name, isBad(name) ? (rules ?? toWeb(name)) : toWeb(name), isBad(name) ? { ...shared, ...annotations } : shared);
      const good = names.filter((name) => name !== bad);
      const whole = when === "later" ? names : good;
      const said = () => `${world.events(bad).join("\n")}\n${world.lines.slice(-6).join("\n")}`;
      await world
        .until("all are served", () => whole.every((name) => served(world).includes(hostOf(name))), 300_000)
        .catch((error: unknown) => {
          throw new Error(`${String(error)}\n${served(world)}\n${said()}`);
        });
      let changed = new Set<string>();
      world.onWrite = () => {
        const now = served(world);
        const lost = whole.filter((name) => !changed.has(name) && !now.includes(hostOf(name)));
        assert.deepEqual(lost, [], "somebody is not served any more");
      };
      if (when === "later") await world.change(bad, annotations, rules);
      await world.world.advance(60_000);
      changed = new Set(["in-03", "in-12"]);
      await world.change("in-12", {}, { "new.example.com": ["Prefix / api:80"] });
      await world.drop("in-03");
      await world.ingress("in-20", toWeb("in-20"), shared);
      await world.world.advance(120_000);
      const wanted = [...good.filter((name) => name !== "in-03"), "in-20"].map((name) =>
        name === "in-12" ? "new.example.com" : hostOf(name),
      );
      const now = served(world);
      assert.deepEqual(
        now.filter((host) => host !== hostOf(bad)),
        wanted,
        said(),
      );
      if (when === "later") assert.equal(now.indexOf(hostOf(bad)), 6, "it keeps its rule where it was");
      assert.equal(world.get("in-03"), undefined, "it could be deleted");
      assert.match(world.events(bad).join("\n"), says);
      for (const name of good) assert.doesNotMatch(world.events(name).join("\n"), /Failed/, name);
    });
  }
}

test("of two that AWS refuses each is refused once, also where one decides what the other asks for", async (t) => {
  const world = await ingressWorld();
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 1);
  const given = world.aws.account.ec2.securityGroups.values().find(() => true)!.id;
  const refused = { ...shared, "target-group-attributes": "no.such.attribute=1" };
  // With groups that are given the bindings of all members say nothing of rules; without them they do.
  await world.ingress("a", { "a.example.com": ["Prefix / web:80"] }, { ...refused, "security-groups": given });
  await world.ingress("b", { "b.example.com": ["Prefix / web:80"] }, refused);
  await world.ingress("c", { "c.example.com": ["Prefix / web:80"] }, shared);
  world.aws.controls.faults.add({
    action: "elasticloadbalancing:ModifyTargetGroupAttributes",
    effect: { kind: "delay", ms: 1_000 },
    probability: 1,
  });
  world.serve();
  await world.until("c is served", () => world.hostname("c") !== "", 60_000);
  assert.equal(world.calls().ModifyTargetGroupAttributes, 2);
  for (const name of ["a", "b"]) assert.match(world.events(name).join("\n"), /FailedDeployModel: .*no\.such\.attribute/);
});

test("one that is made anew under the name of another, with a mistake, does not get what that had", async (t) => {
  const world = await ingressWorld();
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 1);
  world.serve();
  const toWeb = (host: string): Rules => ({ [hostOf(host)]: ["Prefix / web:80"] });
  for (const name of ["a", "b"]) await world.ingress(name, toWeb(name), shared);
  await world.until("both are served", () => served(world).length === 2, 120_000);
  await world.drop("a");
  // By hand, so that nobody lets it go.
  await world.say("PATCH", "/apis/networking.k8s.io/v1/namespaces/default/ingresses/a", { metadata: { finalizers: null } }, "merge");
  await world.until("its rule is gone", () => served(world).length === 1, 120_000);
  await world.ingress("a", toWeb("new"), { ...shared, "target-type": "pods" });
  await world.world.advance(120_000);
  assert.match(world.events("a").join("\n"), /target-type|targetType/);
  assert.deepEqual(served(world), [hostOf("b")]);
});

const deniedLooks: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "acm:ListCertificates": { "listen-ports": '[{"HTTPS":443}]' },
  "elasticloadbalancing:DescribeTrustStores": {
    "listen-ports": '[{"HTTPS":443}]',
    "certificate-arn": missingCertificate,
    "mutual-authentication": '[{"port":443,"mode":"verify","trustStore":"clients"}]',
  },
};

for (const [action, annotations] of Object.entries(deniedLooks)) {
  test(`a look that the role denies is told to the one that needs it, and the others go on: ${action}`, async (t) => {
    const world = await ingressWorld();
    t.after(() => world.close());
    await world.service("web");
    await world.pods("web", 1);
    world.aws.controls.deny(action);
    world.serve();
    const toWeb = (host: string): Rules => ({ [hostOf(host)]: ["Prefix / web:80"] });
    await world.ingress("a", toWeb("a"), { ...shared, ...annotations });
    for (const name of ["b", "c"]) await world.ingress(name, toWeb(name), shared);
    await world.until("the others are served", () => served(world).length === 2, 120_000);
    await world.change("b", {}, toWeb("changed"));
    await world.drop("c");
    await world.until("c is let go", () => world.get("c") === undefined, 600_000);
    assert.deepEqual(served(world), [hostOf("changed")]);
    assert.match(world.events("a").join("\n"), new RegExp(`FailedBuildModel: .*${action}`));
    assert.doesNotMatch(world.events("b").join("\n"), /Failed/);
  });
}
