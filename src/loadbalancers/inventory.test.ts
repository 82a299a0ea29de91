import assert from "node:assert/strict";
import { test } from "node:test";
import { neverAborted } from "../aws/abort.ts";
import { Inventory } from "./inventory.ts";

test("tags that were written are read one by one until AWS's index must know of them, and from the index afterwards", async () => {
  let now = 0;
  const asked: string[] = [];
  const cloud = {
    taggedResources: {
      list: async () => {
        asked.push("index");
        return new Map([["arn:1", { of: "index" }]]);
      },
    },
    loadBalancers: {
      tags: async (arn: string) => {
        asked.push(arn);
        return { of: "itself" };
      },
    },
  };
  const clock = { monotonic: () => now };
  const inventory = new Inventory(cloud as never, clock as never, {
    vpc: "vpc-1",
    cluster: { id: "prod", legacy: false },
    indexed: { key: "elbv2.k8s.aws/cluster", value: "prod" },
  });
  const ask = { cause: "test", signal: neverAborted, urgency: "user" } as const;
  inventory.touchTags("arn:1");
  assert.deepEqual(await inventory.tags("arn:1", ask), { of: "itself" });
  now += 41 * 60_000;
  // Another write lets go of what is known by now.
  inventory.touchTags("arn:2");
  assert.deepEqual(await inventory.tags("arn:1", ask), { of: "index" });
  assert.deepEqual(asked, ["arn:1", "index"]);
});
