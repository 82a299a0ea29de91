/** People who change by hand what is ours: they put target groups of their own behind our load balancers, and take marks off groups. */
import { annotationKey } from "../../src/loadbalancers/service/annotations.ts";
import { sleep } from "../../src/runtime/world.ts";
import type { Listener, TargetGroup } from "../../src/sandbox/cloud/elbv2/state.ts";
import type { ServicesScene } from "./services-scene.ts";
import { servicesPath } from "./services-users.ts";

/**
 * AWS deletes a group whatever its tags are at that moment, so who has read them before the mark was taken off may delete
 * it yet: as long as a plan may take that AWS throttles.
 */
const graceMs = 60_000;

/** Until the signal aborts; then they put everything back. */
export async function meddle(scene: ServicesScene, signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  const wait = (most: number) => sleep(world.clock, chance.between(5_000, most), signal).catch(() => {});
  while (!signal.aborted) {
    await wait(30_000);
    const undo = chance.happens(0.5) ? attachTargetGroup(scene) : await takeMark(scene, signal);
    await wait(60_000);
    undo();
  }
}

/** Of a name that begins as ours do, without tags, and with a listener of our load balancer that forwards to it. */
function attachTargetGroup({ account, cloud, chance, history, unmarked }: ServicesScene): () => void {
  const { store } = cloud.account;
  const [groups, listeners] = [store.table<TargetGroup>("elbv2/target-groups"), store.table<Listener>("elbv2/listeners")];
  const used = groups.values().filter(({ arn, name, tags }) => {
    return /^k8s-default-\w-[0-9a-f]{10}$/.test(name) && "kubernetes.io/cluster/simulated" in tags && frontOf(arn) !== undefined;
  });
  function frontOf(arn: string) {
    return listeners.values().find(({ actions }) => actions.some(({ TargetGroupArn }) => TargetGroupArn === arn));
  }
  const like = chance.pick(used);
  const front = like && frontOf(like.arn);
  if (like === undefined || front === undefined) return () => {};
  const name = like.name.replace(/.{10}$/, "by-hand");
  const group = { ...like, arn: like.arn.replace(like.name, name), name, tags: {} };
  const actions = [{ Type: "forward", TargetGroupArn: group.arn }] as const;
  const listener = { ...front, arn: `${front.arn}f`, port: 9999, tags: {}, actions };
  groups.put(group.arn, group);
  listeners.put(listener.arn, listener);
  unmarked.set(`target group ${name}`, () => groups.get(group.arn) !== undefined);
  history.tell("user", `puts ${name} behind ${account.networks().find(({ arn }) => arn === front.loadBalancerArn)?.name}`);
  return () => {
    unmarked.delete(`target group ${name}`);
    listeners.delete(listener.arn);
    groups.delete(group.arn);
    history.tell("user", `takes ${name} away`);
  };
}

/** The marks of a security group that one of our load balancers uses; some give the load balancer another group as well. */
async function takeMark(scene: ServicesScene, signal: AbortSignal): Promise<() => void> {
  const { account, cloud, chance, history, unmarked, lent, world } = scene;
  const { securityGroups, rules } = cloud.account.ec2;
  const isUsed = (id: string) => [...account.classics(), ...account.networks()].some(({ groupIds }) => groupIds.includes(id));
  const ours = securityGroups.values().filter(({ id, tags }) => tags["kubernetes.io/cluster/simulated"] === "owned" && isUsed(id));
  const group = chance.pick(ours);
  if (group === undefined) return () => {};
  securityGroups.update(group.id, { tags: {} });
  const isMarked = () => "kubernetes.io/cluster/simulated" in (securityGroups.get(group.id)?.tags ?? {});
  // Whoever still needs it may mark it again, and delete it later.
  let excused = false;
  const since = world.clock.monotonic();
  unmarked.set(`security group ${group.name}`, () => {
    const stands = securityGroups.get(group.id) !== undefined;
    excused ||= isMarked() || (!stands && world.clock.monotonic() - since <= graceMs);
    return excused || stands;
  });
  history.tell("user", `takes the marks off ${group.name}`);
  await sleep(world.clock, graceMs + 1_000, signal).catch(() => {});
  const user = [...account.classics(), ...account.networks()].find(({ groupIds }) => groupIds.includes(group.id));
  const service = user?.tags["kubernetes.io/service-name"]?.split("/")[1];
  const annotations = { [annotationKey("security-groups")]: lent.groups[0]! };
  if (service !== undefined && chance.happens(0.5))
    await scene.touch(service, "PATCH", `${servicesPath}/${service}`, { metadata: { annotations } });
  return () => {
    unmarked.delete(`security group ${group.name}`);
    const { tags } = securityGroups.get(group.id) ?? {};
    if (tags === undefined || isMarked()) return;
    history.tell("user", isUsed(group.id) ? `marks ${group.name} again` : `deletes ${group.name}`);
    if (isUsed(group.id)) {
      securityGroups.update(group.id, { tags: { ...tags, ...group.tags } });
      return;
    }
    for (const rule of rules.values())
      if (rule.groupId === group.id || ("groupId" in rule.peer && rule.peer.groupId === group.id)) rules.delete(rule.id);
    securityGroups.delete(group.id);
  };
}
