/** What people do by hand to load balancers that are ours: they take marks off, and put target groups of their own behind our listeners. */
import { sleep } from "../../src/runtime/world.ts";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Listener, Rule, TargetGroup } from "../../src/sandbox/cloud/elbv2/state.ts";
import type { VirtualWorld } from "../../src/sandbox/virtual-clock.ts";
import { type BalancerAccount, clusterTag } from "./balancer-account.ts";
import type { Chance } from "./chance.ts";
import type { History } from "./history.ts";

/**
 * AWS deletes a group whatever its tags are at that moment, so who has read them before the mark was taken off may delete
 * it yet: as long as a plan may take that AWS throttles.
 */
const graceMs = 60_000;

export interface MeddledScene {
  readonly world: VirtualWorld;
  readonly history: History;
  readonly chance: Chance;
  readonly cloud: Cloud;
  readonly account: BalancerAccount;
  /** What does not carry our mark for a while, each with whether it is as its people left it. */
  readonly unmarked: Map<string, () => boolean>;
}

export type Undo = () => void | Promise<void>;
export type Deed<Scene> = (scene: Scene) => Undo;

/** One thing after another until the signal aborts; then everything is put back. */
export async function meddleWith<Scene extends MeddledScene>(
  scene: Scene,
  deeds: readonly Deed<Scene>[],
  signal: AbortSignal,
): Promise<void> {
  const { chance, world } = scene;
  const wait = (most: number) => sleep(world.clock, chance.between(5_000, most), signal).catch(() => {});
  while (!signal.aborted) {
    await wait(40_000);
    const undo = chance.pick(deeds)!(scene);
    await wait(60_000);
    await undo();
  }
}

/** The marks of a security group that one of our load balancers uses. */
export function takeMark({ account, cloud, chance, history, unmarked, world }: MeddledScene): Undo {
  const { securityGroups } = cloud.account.ec2;
  const isMarked = (id: string) => securityGroups.get(id)?.tags[clusterTag] === "simulated";
  const group = chance.pick(securityGroups.values().filter(({ id }) => isMarked(id) && account.uses(id)));
  if (group === undefined) return () => {};
  const { id, name } = group;
  securityGroups.update(id, { tags: {} });
  const since = world.clock.monotonic();
  let isExcused = false;
  unmarked.set(name, () => {
    const stands = securityGroups.get(id) !== undefined;
    isExcused ||= isMarked(id) || (!stands && world.clock.monotonic() - since <= graceMs);
    return isExcused || stands;
  });
  history.tell("user", `takes the marks off ${name}`);
  return () => {
    unmarked.delete(name);
    const { tags } = securityGroups.get(id) ?? {};
    if (tags === undefined || isMarked(id)) return;
    history.tell("user", account.uses(id) ? `marks ${name} again` : `deletes ${name}`);
    if (account.uses(id)) securityGroups.update(id, { tags: { ...tags, ...group.tags } });
    else account.deleteGroup(id);
  };
}

/** Of a name that begins as ours do, without tags, and with a rule of our listener that forwards to it. */
export function attachTargetGroup({ cloud, chance, history, account, unmarked }: MeddledScene): Undo {
  const { store } = cloud.account;
  const [groups, rules] = [store.table<TargetGroup>("elbv2/target-groups"), store.table<Rule>("elbv2/rules")];
  const like = chance.pick(groups.values().filter(({ tags }) => tags[clusterTag] === "simulated"));
  const listener: Listener | undefined = chance.pick(account.listeners());
  if (like === undefined || listener === undefined) return () => {};
  const name = like.name.replace(/.{10}$/, "by-hand");
  if (groups.values().some((group) => group.name === name)) return () => {};
  const group = { ...like, arn: like.arn.replace(like.name, name), name, tags: {} };
  const arn = `${listener.arn.replace(":listener/", ":listener-rule/")}/fffffffffffffff0`;
  groups.put(group.arn, group);
  const actions = [{ Type: "forward" as const, Order: 1, ForwardConfig: { TargetGroups: [{ TargetGroupArn: group.arn, Weight: 1 }] } }];
  const conditions = [{ Field: "path-pattern", PathPatternConfig: { Values: ["/by-hand"] } }];
  rules.put(arn, { arn, listenerArn: listener.arn, priority: 49_000, conditions, actions, transforms: [], tags: {} });
  unmarked.set(name, () => groups.get(group.arn) !== undefined);
  history.tell("user", `puts ${name} behind ${listener.arn}`);
  return () => {
    unmarked.delete(name);
    // Rules of a listener are its controller's, which may have made one of its own of this one by now.
    if (JSON.stringify(rules.get(arn)?.actions ?? []).includes(group.arn)) rules.delete(arn);
    groups.delete(group.arn);
    history.tell("user", `takes ${name} away`);
  };
}
