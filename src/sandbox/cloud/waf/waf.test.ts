import assert from "node:assert/strict";
import { test } from "node:test";
import { DeleteLoadBalancerCommand } from "@aws-sdk/client-elastic-load-balancing-v2";
import {
  AssociateWebACLCommand,
  CreateWebACLCommand,
  DeleteWebACLCommand,
  DisassociateWebACLCommand,
  GetWebACLForResourceCommand,
  ListResourcesForWebACLCommand,
  ListWebACLsCommand,
  WAFV2Client,
  type WebACLSummary,
} from "@aws-sdk/client-wafv2";
import { type BalancingBed, balancingBed } from "../balancing/testing.ts";
import { application } from "../elbv2/application-testing.ts";
import { network } from "../elbv2/testing.ts";
import { sdkConfig } from "../sdk-handler.ts";
import { refused } from "../testing.ts";
import { classicWebAcls } from "./waf-regional.ts";

async function wafBed() {
  const bed = await balancingBed();
  const waf = new WAFV2Client(sdkConfig(bed.cloud));
  const VisibilityConfig = { SampledRequestsEnabled: false, CloudWatchMetricsEnabled: false, MetricName: "m" };
  return {
    ...bed,
    waf,
    lb: await application(bed),
    acl: async (Name: string): Promise<WebACLSummary> =>
      (await waf.send(new CreateWebACLCommand({ Name, Scope: "REGIONAL", DefaultAction: { Allow: {} }, VisibilityConfig }))).Summary!,
  };
}

test("a web ACL is found by name over pages, and made once per name", async () => {
  const { waf, acl } = await wafBed();
  for (const name of ["a", "b", "c"]) await acl(name);
  await refused(acl("a"), "WAFDuplicateItemException");
  const names: (string | undefined)[] = [];
  let NextMarker: string | undefined;
  do {
    const page = await waf.send(new ListWebACLsCommand({ Scope: "REGIONAL", Limit: 2, NextMarker }));
    names.push(...page.WebACLs!.map(({ Name }) => Name));
    NextMarker = page.NextMarker;
  } while (NextMarker !== undefined);
  assert.deepEqual(names.sort(), ["a", "b", "c"]);
  assert.deepEqual((await waf.send(new ListWebACLsCommand({ Scope: "CLOUDFRONT" }))).WebACLs, []);
});

test("a load balancer has one web ACL, or none; what is guarded is listed, and goes with the load balancer", async () => {
  const { waf, acl, lb, elbv2, cloud } = await wafBed();
  const ResourceArn = lb.LoadBalancerArn!;
  const get = async () => (await waf.send(new GetWebACLForResourceCommand({ ResourceArn }))).WebACL?.ARN;
  const [a, b] = [await acl("a"), await acl("b")];
  assert.equal(await get(), undefined);
  for (const { ARN } of [a, b]) await waf.send(new AssociateWebACLCommand({ WebACLArn: ARN, ResourceArn }));
  assert.equal(await get(), b.ARN);
  assert.deepEqual((await waf.send(new ListResourcesForWebACLCommand({ WebACLArn: b.ARN }))).ResourceArns, [ResourceArn]);
  await waf.send(new DisassociateWebACLCommand({ ResourceArn }));
  await waf.send(new DisassociateWebACLCommand({ ResourceArn }));
  assert.equal(await get(), undefined);
  await waf.send(new AssociateWebACLCommand({ WebACLArn: a.ARN, ResourceArn }));
  await elbv2.send(new DeleteLoadBalancerCommand({ LoadBalancerArn: ResourceArn }));
  assert.deepEqual(cloud.controls.snapshot()["wafv2/associations"], {});
});

test("an unknown web ACL or resource, and one that cannot be guarded, are refused", async () => {
  const made = await wafBed();
  const { waf, acl, lb } = made;
  const { ARN } = await acl("a");
  const associate = (WebACLArn: string | undefined, ResourceArn: string | undefined) =>
    waf.send(new AssociateWebACLCommand({ WebACLArn, ResourceArn }));
  await refused(associate(`${ARN}x`, lb.LoadBalancerArn), "WAFNonexistentItemException");
  await refused(associate(ARN, `${lb.LoadBalancerArn}x`), "WAFNonexistentItemException");
  const net = await network(made, { Name: "net" });
  await refused(associate(ARN, net.LoadBalancerArn), "WAFInvalidParameterException");
});

test("a web ACL that guards something cannot be deleted", async () => {
  const { waf, acl, lb } = await wafBed();
  const { ARN, Id, Name, LockToken } = await acl("a");
  const remove = (token = LockToken) => waf.send(new DeleteWebACLCommand({ Id, Name, Scope: "REGIONAL", LockToken: token }));
  await waf.send(new AssociateWebACLCommand({ WebACLArn: ARN, ResourceArn: lb.LoadBalancerArn }));
  await refused(remove(), "WAFAssociatedItemException");
  await waf.send(new DisassociateWebACLCommand({ ResourceArn: lb.LoadBalancerArn }));
  await refused(remove("other"), "WAFOptimisticLockException");
  await remove();
});

test("whoever associates a web ACL must be allowed to set it on the load balancer", async () => {
  const { waf, acl, lb, cloud } = await wafBed();
  const { ARN } = await acl("a");
  const lift = cloud.controls.deny("elasticloadbalancing:SetWebAcl");
  const associate = () => waf.send(new AssociateWebACLCommand({ WebACLArn: ARN, ResourceArn: lb.LoadBalancerArn }));
  await refused(associate(), "AccessDeniedException");
  lift();
  await associate();
});

/** A call of WAF Regional as it is on the wire: no client is installed for it. */
async function classic(
  bed: BalancingBed,
  action: string,
  input: object,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const credential = "AKIASANDBOXSANDBOX00/20260101/us-east-1/waf-regional/aws4_request";
  const answer = await bed.cloud.handle({
    method: "POST",
    url: new URL("http://aws.sandbox/"),
    headers: {
      "x-amz-target": `AWSWAF_Regional_20161128.${action}`,
      authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host, Signature=${"0".repeat(64)}`,
    },
    body: JSON.stringify(input),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  return { status: answer.status, body: JSON.parse(Buffer.concat(chunks).toString("utf8")) };
}

test("WAF Regional associates its own lists with load balancers", async () => {
  const bed = await wafBed();
  const ResourceArn = bed.lb.LoadBalancerArn!;
  classicWebAcls(bed.cloud.account).put("1", { id: "1", name: "old" });
  assert.deepEqual(await classic(bed, "GetWebACLForResource", { ResourceArn }), { status: 200, body: {} });
  assert.equal((await classic(bed, "AssociateWebACL", { ResourceArn, WebACLId: "1" })).status, 200);
  assert.deepEqual((await classic(bed, "GetWebACLForResource", { ResourceArn })).body, { WebACLSummary: { WebACLId: "1", Name: "old" } });
  assert.deepEqual((await classic(bed, "ListResourcesForWebACL", { WebACLId: "1" })).body, { ResourceArns: [ResourceArn] });
  const unknown = await classic(bed, "AssociateWebACL", { ResourceArn, WebACLId: "2" });
  assert.deepEqual([unknown.status, unknown.body.__type], [400, "WAFNonexistentItemException"]);
  await classic(bed, "DisassociateWebACL", { ResourceArn });
  assert.deepEqual((await classic(bed, "GetWebACLForResource", { ResourceArn })).body, {});
});
