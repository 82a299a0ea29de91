import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ask } from "../../aws/ask.ts";
import { AwsError } from "../../aws/errors.ts";
import { clusterTag } from "../controller-names.ts";
import type { Inventory } from "../inventory.ts";
import { BackendGroup } from "./backend-group.ts";

const ask: Ask = { cause: "test", signal: new AbortController().signal, urgency: "user" };

test("one who asks for the group while it is being deleted is not given the id of what is gone for ever after", async () => {
  const tags = { [clusterTag]: "prod", "elbv2.k8s.aws/resource": "backend-sg" };
  const groups = [{ id: "sg-1", tags }];
  const deleting = Promise.withResolvers<void>();
  const deleted = Promise.withResolvers<void>();
  const cloud = {
    async call({ name }: { readonly name: string }) {
      if (name === "CreateSecurityGroup") return { GroupId: "sg-2" };
      deleting.resolve();
      await deleted.promise;
      groups.length = 0;
      return {};
    },
  };
  const inventory = { cloud, scope: { vpc: "vpc-1" }, groups: { all: async () => [...groups] }, touchGroup() {} } as unknown as Inventory;
  const group = new BackendGroup({
    inventory,
    settings: { cluster: "prod", defaultTags: {}, externalManagedTags: [], sharesBackendGroup: true },
  });
  assert.equal(await group.id(ask), "sg-1");
  const release = group.release(ask);
  await deleting.promise;
  assert.equal(await group.id(ask), "sg-1");
  deleted.resolve();
  assert.equal(await release, true);
  assert.equal(await group.id(ask), "sg-2");
});

test("one that stands gets the tags that are asked for; AWS's own and those of others stay, and a refusal keeps nobody from using it", async () => {
  const marks = { [clusterTag]: "prod", "elbv2.k8s.aws/resource": "backend-sg" };
  const tags = { ...marks, "aws:cloudformation:stack-name": "s", owner: "them", old: "1", team: "b" };
  const calls: [string, unknown][] = [];
  const cloud = {
    async call({ name }: { readonly name: string }, input: unknown) {
      calls.push([name, input]);
      return {};
    },
  };
  const groups = { all: async () => [{ id: "sg-1", name: "shared", tags }] };
  const inventory = { cloud, scope: { vpc: "vpc-1" }, groups, touchGroup() {} } as unknown as Inventory;
  const settings = { cluster: "prod", defaultTags: { team: "a" }, externalManagedTags: ["owner"], sharesBackendGroup: true };
  const group = new BackendGroup({ inventory, settings });
  assert.deepEqual([await group.id(ask), await group.id(ask)], ["sg-1", "sg-1"]);
  assert.deepEqual(calls, [
    ["CreateTags", { Resources: ["sg-1"], Tags: [{ Key: "team", Value: "a" }] }],
    ["DeleteTags", { Resources: ["sg-1"], Tags: [{ Key: "old" }] }],
  ]);
  const denied = {
    ...inventory,
    cloud: {
      call: () =>
        Promise.reject(
          new AwsError({ class: "denied", code: "UnauthorizedOperation", service: "ec2", action: "CreateTags", message: "no" } as never),
        ),
    },
  };
  assert.equal(await new BackendGroup({ inventory: denied as never, settings }).id(ask), "sg-1");
});
