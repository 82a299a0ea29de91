/** `fairlead explain targetgroupbinding/NAME`: gathers what the page is made from. */
import { isAwsError } from "../aws/errors.ts";
import { endpointSlices, pods } from "../kube/builtin.ts";
import { isApiError } from "../kube/errors.ts";
import { bindingState, type SeenBinding, targetGroupBindings } from "../loadbalancers/targets/binding.ts";
import { resolveEndpoints } from "../loadbalancers/targets/endpoints.ts";
import { explainBinding } from "../loadbalancers/targets/explain.ts";
import { GroupTargets } from "../loadbalancers/targets/group-targets.ts";
import { otherBindings } from "../loadbalancers/targets/other-bindings.ts";
import { podState } from "../loadbalancers/targets/pods.ts";
import { endpoints, endpointsState, sliceState } from "../loadbalancers/targets/slices.ts";
import { factsOf, groupProblems, sharingProblem, specProblems } from "../loadbalancers/targets/validate.ts";
import { messageOf } from "../runtime/message-of.ts";
import type { Clock } from "../runtime/world.ts";
import { controllerOptions } from "./balancer-options.ts";
import { type Live, NotPossible } from "./live.ts";
import { gateOpen } from "./load-balancer-controller/feature-gates.ts";

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** `targetgroupbinding/web`, `tgb/shop/web`; undefined for anything else. */
export function bindingNamed(word: string, namespace: string): Named | undefined {
  const [, path] = /^(?:targetgroupbindings?|tgb)\/(.+)$/i.exec(word) ?? [];
  if (path === undefined) return undefined;
  const [first = "", second, ...more] = path.split("/");
  if (first === "" || second === "" || more.length > 0)
    throw new NotPossible(`${JSON.stringify(word)} names no TargetGroupBinding: write targetgroupbinding/NAME`);
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
}

export async function explainNamedBinding(
  { namespace, name }: Named,
  live: Live,
  clock: Clock,
  warnings: (uid: string, namespace: string) => Promise<readonly string[]>,
): Promise<string> {
  const { kube, ask, all } = live;
  const { signal } = ask;
  const options = await controllerOptions(live);
  const readsEndpoints = !options["enable-endpoint-slices"];
  const [bindings, podList, slices] = await Promise.all([
    kube.list(targetGroupBindings, { signal }).catch((error: unknown) => {
      if (!isApiError(error, "not-found")) throw error;
      throw new NotPossible("the cluster has no TargetGroupBindings: the load balancer controller is not installed");
    }),
    kube.list(pods, { namespace, signal }),
    readsEndpoints
      ? kube.list(endpoints, { namespace, signal }).then(({ items }) => items.map(endpointsState))
      : kube.list(endpointSlices, { namespace, signal }).then(({ items }) => items.map(sliceState)),
  ]);
  const seen = bindings.items.map(bindingState) as readonly SeenBinding[];
  const binding = seen.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  if (binding === undefined) throw new NotPossible(`there is no TargetGroupBinding ${namespace}/${name}`);
  const { spec, metadata } = binding;
  const podsByKey = new Map(
    podList.items.map((pod) => [`${namespace}/${pod.metadata.name}`, podState(pod, options["quic-environment-variable-name"])]),
  );
  const nodes = live.nodes.list();
  const own = slices.filter(({ service }) => service === spec.serviceRef.name);
  const resolved = resolveEndpoints(namespace, spec, {
    service: all.find(({ view }) => view.namespace === namespace && view.name === spec.serviceRef.name)?.view,
    slices: readsEndpoints && own.length === 0 ? undefined : own.flatMap(({ parts }) => parts),
    nodes,
    pod: (key) => podsByKey.get(key),
    node: (wanted) => nodes.find((node) => node.metadata.name === wanted),
    failOpen: gateOpen(options["feature-gates"], "EndpointsFailOpen"),
  });
  const group = await readGroup(binding, live, clock);
  return explainBinding({
    binding,
    problems: [...specProblems(spec).map(({ message }) => message), ...sharing(binding, seen), ...group.problems],
    resolved,
    targets: group.targets,
    events: await warnings(metadata.uid, namespace),
  });
}

function sharing({ spec, metadata }: SeenBinding, all: readonly SeenBinding[]): readonly string[] {
  const arn = spec.targetGroupARN;
  if (arn === undefined) return [];
  const found = { by: () => all.filter((other) => other.spec.targetGroupARN === arn) };
  const problem = sharingProblem(spec, otherBindings(found, arn, metadata.uid));
  return problem === undefined ? [] : [problem.message];
}

interface GroupRead {
  readonly problems: readonly string[];
  readonly targets: Awaited<ReturnType<GroupTargets["list"]>>;
}

/** A group of another account is read as ourselves, who may not be allowed to. */
async function readGroup({ spec }: SeenBinding, { cloud, ask }: Live, clock: Clock): Promise<GroupRead> {
  const { targetGroupARN: arn, targetGroupName: name = "" } = spec;
  const { loadBalancers } = cloud;
  try {
    const group = await (arn ? loadBalancers.targetGroupAt(arn, ask) : loadBalancers.targetGroup(name, ask));
    if (group === undefined)
      return { problems: [`target group ${arn ?? name} does not exist in this account and region`], targets: undefined };
    const facts = factsOf(group);
    const targets = await new GroupTargets(clock).list(facts.arn, loadBalancers, ask);
    return { problems: groupProblems(spec, facts).map(({ message }) => message), targets };
  } catch (error) {
    if (!isAwsError(error, "denied")) throw error;
    return { problems: [`the target group cannot be read: ${messageOf(error)}`], targets: undefined };
  }
}
