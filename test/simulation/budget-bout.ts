/** A budget among impatient callers: what it grants, over any time, is never more than its bucket allows. */
import { Budget } from "../../src/aws/budget.ts";
import { sleep } from "../../src/runtime/world.ts";
import { type Bout, boutLimitMs } from "./bout.ts";

const limits = { rate: 4, most: 8, burst: 6 };

/** Callers come, give up and are throttled at random; afterwards nobody may be left waiting. */
export const budgetBout: Bout = async (scene, signal) => {
  const { chance, world, history } = scene;
  const budget = new Budget(world, limits);
  const granted: number[] = [];
  const take = async () => {
    const patience = new AbortController();
    if (chance.happens(0.2)) world.clock.after(chance.between(0, 2000), () => patience.abort(new Error("lost patience")));
    try {
      await budget.take(chance.happens(0.5) ? "user" : "background", patience.signal);
    } catch {
      return;
    }
    if (patience.signal.aborted) history.broken("who gave up is granted nothing", "a call was granted after its signal had aborted");
    granted.push(world.clock.monotonic());
    checkRate(granted, history.broken.bind(history));
  };
  while (!signal.aborted) {
    const callers = Math.floor(chance.between(0, 4));
    for (let i = 0; i < callers; i++) void take();
    if (chance.happens(0.2)) budget.throttled(world.clock.monotonic());
    await sleep(world.clock, chance.between(200, 5000), signal).catch(() => {});
  }
  await sleep(world.clock, boutLimitMs);
  if (budget.waiting > 0) history.broken("everybody is served in the end", `${budget.waiting} calls still wait for their budget`);
};

/** Between any two grants there were no more than the burst and what time had brought. */
function checkRate(granted: readonly number[], broken: (rule: string, how: string) => void): void {
  const now = granted.at(-1)!;
  for (let i = granted.length - 1, count = 1; i >= 0 && count <= 50; i--, count++) {
    const most = limits.burst + ((now - granted[i]!) / 1000) * limits.most + 1e-6;
    if (count > most + 1) {
      broken("a budget is never overdrawn", `${count} calls within ${Math.round(now - granted[i]!)} ms`);
      return;
    }
  }
}
