import assert from "node:assert/strict";
import { test } from "node:test";
import { accountText, textDifferences } from "../bed/account-text.ts";
import type { ServiceWorld } from "../bed/service-world.ts";
import { classicWithAll, networkWithAll, type Scenario } from "../simulation/services-features.ts";

const phases = ["create", "update", "delete"] as const;
type Phase = (typeof phases)[number];

interface Story {
  /** What stands after each phase. */
  readonly accounts: Readonly<Record<Phase, readonly string[]>>;
  /** Mutating calls of each phase. */
  readonly mutations: Readonly<Record<Phase, number>>;
}

/** Longer than interfaces take to go and failed work to be tried again. */
const settleMs = 15 * 60_000;

async function play(scenario: Scenario, crash?: { readonly phase: Phase; readonly after: number }): Promise<Story> {
  const world = await scenario.world();
  const accounts: Partial<Record<Phase, readonly string[]>> = {};
  const mutations: Record<Phase, number> = { create: 0, update: 0, delete: 0 };
  try {
    let manager = world.start();
    await world.world.advance(1000);
    for (const phase of phases) {
      world.onMutation = () => {
        mutations[phase]++;
        if (crash?.phase === phase && mutations[phase] === crash.after) {
          manager.kill();
          world.world.clock.after(2000, () => {
            manager = world.start();
          });
        }
      };
      await act(scenario, world, phase);
      await world.world.advance(settleMs);
      accounts[phase] = accountText(world.snapshot());
    }
    assert.equal(world.service("web"), undefined, "the Service is gone");
    return { accounts: accounts as Story["accounts"], mutations };
  } finally {
    world.close();
  }
}

async function act(scenario: Scenario, world: ServiceWorld, phase: Phase): Promise<void> {
  if (phase === "create") await world.create("web", scenario.wish(world));
  else if (phase === "update") await scenario.edit(world);
  else await world.delete("web");
}

for (const scenario of [classicWithAll, networkWithAll]) {
  test(`wherever the process dies, a ${scenario.kind} load balancer ends as if it had not`, async (t) => {
    const empty = await scenario.world();
    const before = accountText(empty.snapshot());
    empty.close();
    const undisturbed = await play(scenario);
    assert.deepEqual(textDifferences(undisturbed.accounts.delete, before), [], "nothing is left");
    for (const phase of phases) {
      for (let after = 1; after <= undisturbed.mutations[phase]; after++) {
        await t.test(`after call ${after} of ${undisturbed.mutations[phase]} of ${phase}`, async () => {
          const { accounts } = await play(scenario, { phase, after });
          for (const each of phases) assert.deepEqual(textDifferences(accounts[each], undisturbed.accounts[each]), [], `after ${each}`);
        });
      }
    }
  });
}
