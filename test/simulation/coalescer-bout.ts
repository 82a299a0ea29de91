/** Background reads that wait long for their turn, and users who ask meanwhile: a user never waits for one of them to end. */
import { Coalescer } from "../../src/aws/coalescer.ts";
import { sleep } from "../../src/runtime/world.ts";
import type { Bout } from "./bout.ts";

/** What a call takes that a user waits for, and the longest that one in the background may wait for its budget. */
const userMs = 200;
const backgroundMs = 60_000;
/** One user's call may be under way; the next leaves when it is back. */
const patienceMs = 2_000;

/** Both ask at random for things of a few kinds, which cannot share a call. */
export const coalescerBout: Bout = async ({ chance, world, history }, signal) => {
  const coalescer = new Coalescer<string, string>({
    clock: world.clock,
    most: 3,
    keyOf: (item) => item,
    groupOf: (item) => item[0]!,
    fetch: async (items, { urgency }) => {
      await sleep(world.clock, urgency === "user" ? userMs : chance.between(1000, backgroundMs));
      return new Map(items.map((item) => [item, item]));
    },
  });
  const unasked = new AbortController().signal;
  const ask = async (urgency: "user" | "background") => {
    const item = `${chance.pick(["a", "b", "c"])}${Math.floor(chance.between(0, 50))}`;
    const since = world.clock.monotonic();
    const answer = await coalescer.get(item, urgency, unasked);
    if (answer !== item) history.broken("each asker gets the answer to its own question", `${item} was answered with ${answer}`);
    const waited = world.clock.monotonic() - since;
    if (urgency === "user" && waited > patienceMs) {
      history.broken("a user's question does not wait behind the background", `${item} took ${Math.round(waited)} ms`);
    }
  };
  while (!signal.aborted) {
    for (let asker = chance.between(0, 6); asker >= 1; asker--) void ask("background");
    if (chance.happens(0.5)) void ask("user");
    await sleep(world.clock, chance.between(500, 5000), signal).catch(() => {});
  }
};
