/** Tags of EC2's things, and pages of its lists. */
import { CreateTagsCommand, DeleteTagsCommand, DescribeInstancesCommand, DescribeTagsCommand } from "@aws-sdk/client-ec2";
import { asker, type Exchange } from "../script.ts";

const ask = asker("ec2");

export const tagExchanges: readonly Exchange[] = [
  ask("several things are tagged at once", CreateTagsCommand, {
    Resources: ["$node", "$subnetB", "$nodes"],
    Tags: [
      { Key: "team", Value: "network" },
      { Key: "empty", Value: "" },
    ],
  }),
  ask("a tag is given another value", CreateTagsCommand, { Resources: ["$node"], Tags: [{ Key: "team", Value: "compute" }] }),
  ask("the tags of an instance", DescribeTagsCommand, { Filters: [{ Name: "resource-id", Values: ["$node"] }] }),
  ask("the things that carry a key", DescribeTagsCommand, { Filters: [{ Name: "key", Values: ["team"] }] }),
  ask("the security groups that carry a key", DescribeTagsCommand, {
    Filters: [
      { Name: "key", Values: ["team"] },
      { Name: "resource-type", Values: ["security-group"] },
    ],
  }),
  ask("tags by their value", DescribeTagsCommand, { Filters: [{ Name: "value", Values: ["compute"] }] }),
  ask("instances by a tag's new value", DescribeInstancesCommand, { Filters: [{ Name: "tag:team", Values: ["compute"] }] }),
  ask("a tag is deleted by key and a value it does not have", DeleteTagsCommand, {
    Resources: ["$subnetB"],
    Tags: [{ Key: "team", Value: "compute" }],
  }),
  ask("a tag is deleted by key and value", DeleteTagsCommand, { Resources: ["$node"], Tags: [{ Key: "team", Value: "compute" }] }),
  ask("a tag is deleted by key", DeleteTagsCommand, { Resources: ["$nodes"], Tags: [{ Key: "team" }] }),
  ask("a tag is deleted that is not there", DeleteTagsCommand, { Resources: ["$node"], Tags: [{ Key: "nothing" }] }),
  ask("the things that still carry a key", DescribeTagsCommand, { Filters: [{ Name: "key", Values: ["team"] }] }),
  ask("an instance that does not exist is tagged", CreateTagsCommand, {
    Resources: ["i-0123456789abcdef0"],
    Tags: [{ Key: "a", Value: "b" }],
  }),
  ask("something whose id is malformed is tagged", CreateTagsCommand, { Resources: ["thing"], Tags: [{ Key: "a", Value: "b" }] }),
  ask("a key that AWS keeps for itself", CreateTagsCommand, { Resources: ["$otherTable"], Tags: [{ Key: "aws:mine", Value: "b" }] }),
  ask("more tags than a thing may carry", CreateTagsCommand, {
    Resources: ["$node"],
    Tags: Array.from({ length: 51 }, (_, at) => ({ Key: `key-${at}`, Value: "" })),
  }),

  ask("instances in pages: the first", DescribeInstancesCommand, { Filters: [{ Name: "vpc-id", Values: ["$vpc"] }], MaxResults: 5 }),
];
