/** Lets the load balancer's traffic in to the targets of a binding, where it asks for that. */
import { keyOf } from "../../kube/store.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { messageOf } from "../../runtime/message-of.ts";
import type { EndpointRule } from "../groups/endpoint-rules.ts";
import { hasBindingFinalizer } from "./binding.ts";
import type { BindingContext, BindingJob } from "./binding-context.ts";
import type { Endpoint } from "./endpoints.ts";
import { networkingOf, possibleRules } from "./networking.ts";

/** What the targets let in, before anything is sent to them. A failure holds nobody back, and is tried again. */
export async function letIn(job: BindingJob, endpoints: readonly Endpoint[], context: BindingContext): Promise<void> {
  const { binding, key, remembered, ask } = job;
  const { rules, report, cloud, vpc, clusterTag, nodes, settings } = context;
  remembered.networkingAt = context.host.world.clock.monotonic();
  remembered.networkingFor = binding.metadata.generation;
  let problem: string;
  try {
    if (binding.spec.networking === undefined) {
      await rules.forget(key, ask);
      delete remembered.networking;
      return;
    }
    const parts = { cloud, vpc, clusterTag, groupTags: settings.groupTags, node: (name: string) => nodes.get(name) };
    const { claim, problems } = await networkingOf(binding.spec, endpoints, parts, ask);
    problem = problems.join("; ");
    // Of one that is not known in full nothing is revoked meanwhile.
    remembered.networking = problem;
    await rules.claim(key, claim, ask);
  } catch (error) {
    ask.signal.throwIfAborted();
    if (refusalIn(error)) throw error;
    problem = messageOf(error);
  }
  if (problem !== "" && problem !== remembered.toldNetworking) report.event(binding, "Warning", "FailedNetworkReconcile", problem);
  remembered.toldNetworking = problem;
  remembered.networking = problem;
}

/** How soon rules that could not be written are tried again, however often targets are looked at meanwhile. */
const retryMs = 15_000;

/** Whether rules have to be looked at although no target has changed: they are asked for anew, or could not be written. */
export function isDue({ binding, remembered }: BindingJob, now: number): boolean {
  const { networking, networkingAt = 0, networkingFor } = remembered;
  return networkingFor !== binding.metadata.generation || (Boolean(networking) && now - networkingAt >= retryMs);
}

/**
 * What bindings may have let in that have not said so in full since the start: they wait for their turn, or cannot be carried
 * out as they are. One without finalizer was never carried out.
 */
export function unheardRules({
  bindings,
  rules,
  memoryOf,
}: Pick<BindingContext, "bindings" | "rules" | "memoryOf">): readonly EndpointRule[] {
  return bindings
    .list()
    .filter((binding) => binding.spec.networking !== undefined && hasBindingFinalizer(binding) && !binding.metadata.deletionTimestamp)
    .filter((binding) => !rules.hasClaim(keyOf(binding)) || Boolean(memoryOf(binding).networking))
    .flatMap(({ spec }) => possibleRules(spec));
}
