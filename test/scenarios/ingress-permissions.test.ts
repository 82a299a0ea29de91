/** The shipped policies against what serving Ingresses really takes: nothing is missing, nothing is for nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CreateSubscriptionCommand, ShieldClient } from "@aws-sdk/client-shield";
import { CreateWebACLCommand, WAFV2Client } from "@aws-sdk/client-wafv2";
import { ingressGrants } from "../../src/doctor/ingress-grants.ts";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { classicWebAcls } from "../../src/sandbox/cloud/waf/waf-regional.ts";
import { type IngressWorld, ingressWorld } from "../bed/ingress-world.ts";
import { actionsIn, strictPolicy, usualPolicy } from "../bed/policies.ts";

const features = ["ingresses", "target-group-bindings"];

/** What AWS checks without a call of ours. */
const unasked = new Set(ingressGrants.flatMap(({ also = [] }) => also));

async function webAcl(world: IngressWorld): Promise<string> {
  const VisibilityConfig = { SampledRequestsEnabled: false, CloudWatchMetricsEnabled: false, MetricName: "m" };
  const input = { Name: "acl", Scope: "REGIONAL" as const, DefaultAction: { Allow: {} }, VisibilityConfig };
  return (await new WAFV2Client(sdkConfig(world.aws)).send(new CreateWebACLCommand(input))).Summary?.ARN ?? "";
}

/** The life of a group in which everything happens that can. */
async function life(policy: typeof usualPolicy) {
  const world = await ingressWorld({ ipv6: true });
  await world.service("web");
  await world.pods("web", 1);
  await world.service("api");
  await world.pods("api", 1);
  const many = Array.from({ length: 101 }, (_, i) => `n${i}.example.com`);
  world.aws.controls.change({ quotas: { namesPerCertificate: 200 } });
  const [first = "", second = ""] = await world.issue(["a.example.com"], many);
  const acl = await webAcl(world);
  classicWebAcls(world.aws.account).put("old", { id: "old", name: "old" });
  await new ShieldClient(sdkConfig(world.aws)).send(new CreateSubscriptionCommand({}));
  const { publicSubnetIds, nodeGroupId } = world.network;
  world.aws.controls.change({ policy: policy(world.aws, world.network, "test", ...features) });
  world.resetCalls();
  world.serve("--enable-leader-election=true");
  const settle = (ms = 60_000) => world.world.advance(ms);
  await world.ingress(
    "shop",
    { "a.example.com": ["Prefix / web:80", "Prefix /api api:80"] },
    {
      scheme: "internet-facing",
      "listen-ports": '[{"HTTP":80},{"HTTPS":443}]',
      "load-balancer-attributes": "idle_timeout.timeout_seconds=61",
      "listener-attributes.HTTP-80": "routing.http.response.server.enabled=false",
      "target-group-attributes": "deregistration_delay.timeout_seconds=30",
      "ipam-ipv4-pool-id": "ipam-pool-0123456789abcdef0",
      "mutual-authentication": '[{"port":443,"mode":"verify","trustStore":"none-such"}]',
      tags: "team=a",
      "wafv2-acl-name": "acl",
      "waf-acl-id": "old",
      "shield-advanced-protection": "true",
      "enable-frontend-nlb": "true",
      "frontend-nlb-attributes": "load_balancing.cross_zone.enabled=true",
    },
  );
  await settle();
  assert.match(world.events("shop").join(), /couldn't find TrustStore with name none-such/);
  await world.change("shop", { "mutual-authentication": null });
  await settle(300_000);
  assert.notEqual(world.hostname("shop"), "", `${world.lines.slice(-5).join("\n")}\n${world.events("shop").join("\n")}`);
  await world.change("shop", {
    "certificate-arn": `${first},${second}`,
    tags: "team=b",
    "inbound-cidrs": "10.0.0.0/8",
    "ip-address-type": "dualstack",
    "ipam-ipv4-pool-id": null,
    subnets: publicSubnetIds.slice(0, 2).join(),
    "healthcheck-path": "/up",
    "minimum-load-balancer-capacity": "CapacityUnits=100",
    "load-balancer-attributes": "idle_timeout.timeout_seconds=62",
    "listener-attributes.HTTP-80": "routing.http.response.server.enabled=true",
    "target-group-attributes": "deregistration_delay.timeout_seconds=31",
  });
  await settle(300_000);
  assert.deepEqual(
    world.all<{ acl: string }>("wafv2/associations").map((each) => each.acl),
    [acl],
  );
  await world.change("shop", {
    "certificate-arn": first,
    tags: null,
    "ssl-redirect": "443",
    "wafv2-acl-name": "none",
    "waf-acl-id": "none",
    "shield-advanced-protection": "false",
  });
  await settle();
  await world.change("shop", {}, { "a.example.com": ["Exact /x web:80", "Prefix / web:80", "Prefix /api api:80"] });
  await settle();
  await world.change("shop", {}, { "a.example.com": ["Exact /y web:80", "Prefix / web:80"] });
  await settle();
  await world.change("shop", { "listen-ports": '[{"HTTPS":443}]', "ssl-redirect": null, "security-groups": nodeGroupId });
  await settle(120_000);
  assert.doesNotMatch(world.events("shop").join("\n"), /Unauthorized|AccessDenied|not authorized/);
  await world.drop("shop");
  await world.until("gone", () => world.get("shop") === undefined, 3_600_000);
  await settle(300_000);
  assert.deepEqual([world.all("elbv2/load-balancers").length, world.all("elbv2/target-groups").length], [0, 0]);
  world.close();
  return world;
}

for (const [name, policy] of Object.entries({ usual: usualPolicy, strict: strictPolicy })) {
  test(`the ${name} policy allows all that Ingresses need, and nothing that they do not`, async () => {
    const world = await life(policy);
    const called = new Set(Object.keys(world.aws.controls.journal.counts()));
    assert.deepEqual(
      actionsIn("ingresses").filter((action) => !called.has(action) && !unasked.has(action)),
      [],
      "allowed, and never called",
    );
    assert.deepEqual(
      [...called].filter((action) => !actionsIn(...features).includes(action)),
      [],
      "called, and not allowed",
    );
  });
}
