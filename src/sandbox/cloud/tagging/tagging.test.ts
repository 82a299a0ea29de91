import assert from "node:assert/strict";
import { test } from "node:test";
import { CreateTagsCommand } from "@aws-sdk/client-ec2";
import { CreateLoadBalancerCommand } from "@aws-sdk/client-elastic-load-balancing";
import { DescribeTagsCommand } from "@aws-sdk/client-elastic-load-balancing-v2";
import {
  GetResourcesCommand,
  type GetResourcesCommandInput,
  ResourceGroupsTaggingAPIClient,
  TagResourcesCommand,
  UntagResourcesCommand,
} from "@aws-sdk/client-resource-groups-tagging-api";
import { application, rule, ruleBed, webGroup } from "../elbv2/application-testing.ts";
import { sdkConfig } from "../sdk-handler.ts";
import { refused } from "../testing.ts";

test("resources are found by tags and types over all services: classic load balancers, listeners and rules too, what has no tags not", async () => {
  const bed = await ruleBed();
  const tagging = new ResourceGroupsTaggingAPIClient(sdkConfig(bed.cloud));
  const Tags = [{ Key: "team", Value: "shop" }];
  await application(bed, { Name: "tagged", Tags });
  await rule(bed, bed.web, 1, { Tags: [{ Key: "team", Value: "other" }] });
  await webGroup(bed, "web", { Tags });
  const Listeners = [{ Protocol: "TCP", LoadBalancerPort: 80, InstancePort: 80 }];
  await bed.elb.send(new CreateLoadBalancerCommand({ LoadBalancerName: "old", Listeners, Subnets: [bed.subnets[0]], Tags }));
  await bed.ec2.send(new CreateTagsCommand({ Resources: [bed.groupId], Tags }));
  const find = async (input: GetResourcesCommandInput) =>
    (await tagging.send(new GetResourcesCommand(input))).ResourceTagMappingList!.map(({ ResourceARN }) =>
      ResourceARN!.split(":").slice(5).join(":"),
    );
  const shop = { TagFilters: [{ Key: "team", Values: ["shop"] }] };
  assert.deepEqual(
    (await find(shop)).map((name) => name.split("/").slice(0, 2).join("/")),
    [`security-group/${bed.groupId}`, "loadbalancer/app", "loadbalancer/old", "targetgroup/web"],
  );
  assert.equal((await find({ ...shop, ResourceTypeFilters: ["elasticloadbalancing:loadbalancer"] })).length, 2);
  assert.equal((await find({ ...shop, ResourceTypeFilters: ["elasticloadbalancing:loadbalancer/app"] })).length, 1);
  assert.equal((await find({ ...shop, ResourceTypeFilters: ["ec2"] })).length, 1);
  assert.match((await find({ TagFilters: [{ Key: "team", Values: ["other", "third"] }] }))[0]!, /^listener-rule\/app\/shop\//);
  assert.equal((await find({ TagFilters: [{ Key: "team" }] })).length, 5);
  assert.deepEqual(await find({ TagFilters: [{ Key: "team" }, { Key: "stage" }] }), []);
  const first = await tagging.send(new GetResourcesCommand({ ...shop, ResourcesPerPage: 3 }));
  const second = await tagging.send(new GetResourcesCommand({ ...shop, ResourcesPerPage: 3, PaginationToken: first.PaginationToken }));
  assert.deepEqual([first.ResourceTagMappingList?.length, second.ResourceTagMappingList?.length, second.PaginationToken], [3, 1, ""]);
  await refused(find({ TagFilters: [{ Key: "team", Values: Array(21).fill("x") }] }), "InvalidParameterException");
  await refused(find({ ...shop, ResourceARNList: ["arn:aws:ec2:us-east-1:123456789012:vpc/vpc-1"] }), "InvalidParameterException");
});

test("TagResources and UntagResources work for load balancers too, and tell what they failed at", async () => {
  const bed = await ruleBed();
  const tagging = new ResourceGroupsTaggingAPIClient(sdkConfig(bed.cloud));
  const arn = bed.lb.LoadBalancerArn!;
  const ResourceARNList = [arn, `${arn}x`];
  const lift = bed.cloud.controls.deny("elasticloadbalancing:AddTags");
  const tag = () => tagging.send(new TagResourcesCommand({ ResourceARNList, Tags: { team: "shop", stage: "prod" } }));
  await refused(tag(), "AccessDeniedException");
  lift();
  assert.deepEqual(Object.keys((await tag()).FailedResourcesMap!), [`${arn}x`]);
  await tagging.send(new UntagResourcesCommand({ ResourceARNList: [arn], TagKeys: ["stage"] }));
  const { TagDescriptions } = await bed.elbv2.send(new DescribeTagsCommand({ ResourceArns: [arn] }));
  assert.deepEqual(TagDescriptions![0]!.Tags, [{ Key: "team", Value: "shop" }]);
  await refused(tagging.send(new TagResourcesCommand({ ResourceARNList: Array(21).fill(arn), Tags: {} })), "InvalidParameterException");
});
