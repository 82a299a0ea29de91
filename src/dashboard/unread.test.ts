import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../kube/builtin.ts";
import { ApiError } from "../kube/errors.ts";
import type { Clock } from "../runtime/world.ts";
import { type Followed, unreadObjects } from "./unread.ts";

function followed(name: string, hasSynced: boolean, staleSinceMs?: number): Followed {
  return { of: nodes as never, by: { name, hasSynced, staleSinceMs, run: async () => {} } };
}

function refusing(answers: Readonly<Record<string, "forbidden" | "not-found" | "internal">>, names: readonly string[]) {
  const asked: string[] = [];
  let at = 0;
  const page = async () => {
    const name = names[at++ % names.length]!;
    asked.push(name);
    throw new ApiError({ reason: answers[name]!, status: 403, asked: `list ${name}`, said: "no" });
  };
  return { asked, page: page as never };
}

const never = new AbortController().signal;

test("what may not be listed is named; a kind that the cluster does not have is not, and is not asked for again", async () => {
  let now = 0;
  const clock = { now: () => now } as Clock;
  const names = ["persistentvolumes", "gateways"];
  const { page, asked } = refusing({ persistentvolumes: "forbidden", gateways: "not-found" }, names);
  const check = unreadObjects(
    { page },
    [followed("persistentvolumes", false), followed("gateways", false), followed("nodes", true)],
    clock,
  );
  assert.deepEqual(await check(never), [], "at first everything is on its way");
  now = 10_000;
  const [found, ...others] = await check(never);
  assert.deepEqual(others, []);
  assert.match(found?.remedy ?? "", /list and watch on persistentvolumes/);
  assert.equal(found?.since, 0);
  await check(never);
  assert.deepEqual(asked, ["persistentvolumes", "gateways", "persistentvolumes"]);
});

test("an API server that does not answer is one trouble, however many kinds are followed", async () => {
  const clock = { now: () => 20_000 } as Clock;
  const { page } = refusing({ nodes: "internal", services: "internal" }, ["nodes", "services"]);
  const found = await unreadObjects({ page }, [followed("nodes", true, 1_000), followed("services", true, 1_000)], clock)(never);
  assert.deepEqual(
    found.map(({ title, since }) => [title, since]),
    [["The API server does not answer as it should", 1_000]],
  );
});
