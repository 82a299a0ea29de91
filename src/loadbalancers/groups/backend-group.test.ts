import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ask } from "../../aws/ask.ts";
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
  const group = new BackendGroup({ inventory, settings: { cluster: "prod", defaultTags: {}, sharesBackendGroup: true } });
  assert.equal(await group.id(ask), "sg-1");
  const release = group.release(ask);
  await deleting.promise;
  assert.equal(await group.id(ask), "sg-1");
  deleted.resolve();
  assert.equal(await release, true);
  assert.equal(await group.id(ask), "sg-2");
});
