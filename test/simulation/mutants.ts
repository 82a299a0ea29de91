/** Known faults, put into the source as it is loaded: a simulation that does not find them is worth nothing. */
import { registerHooks } from "node:module";
import { classMutants } from "./mutants-classes.ts";
import { gatewayMutants } from "./mutants-gateways.ts";
import { ingressMutants } from "./mutants-ingresses.ts";
import { interruptionMutants } from "./mutants-interruptions.ts";
import { volumeMutants } from "./mutants-volumes.ts";

export interface Mutant {
  readonly name: string;
  /** Where it shows. */
  readonly world: "kits" | "bindings" | "classes" | "nodes" | "services" | "volumes" | "interruptions" | "ingresses" | "gateways";
  readonly file: string;
  /** Text of the source and what takes its place; each must be found. */
  readonly changes: readonly (readonly [from: string, to: string])[];
  /** The rule whose breach gives it away. */
  readonly killedBy: string;
}

export const mutants: readonly Mutant[] = [
  {
    name: "informer-misses-delete",
    world: "kits",
    file: "src/kube/informer.ts",
    changes: [["if (!listed.has(key)) this.#forget(", "if (false) this.#forget("]],
    killedBy: "a cache equals the server in the end",
  },
  {
    name: "informer-waits-for-streamed-lists",
    world: "kits",
    file: "src/kube/reflector.ts",
    changes: [["isApiError(error, ...sayNothingOfTheVersion)) throw error;", "!saysNotStreamed(error)) throw error;"]],
    killedBy: "a cache equals the server in the end",
  },
  {
    name: "calls-have-no-place-of-their-own",
    world: "kits",
    file: "src/kube/connections.ts",
    changes: [
      ["new Semaphore({ shared: callsAtOnce - callsOfItsOwn, own: callsOfItsOwn })", "new Semaphore({ shared: callsAtOnce, own: 0 })"],
    ],
    killedBy: "no part of a process waits for another's calls",
  },
  {
    name: "calls-wait-beyond-their-limit",
    world: "kits",
    file: "src/kube/exchange.ts",
    changes: [
      ["await within(clock, endsAt - clock.monotonic(), call.asked, call.signal,", "await within(clock, 600_000, call.asked, call.signal,"],
    ],
    killedBy: "what has a time limit ends by it",
  },
  {
    name: "certificate-with-anothers-key",
    world: "kits",
    file: "src/kube/config/rotated.ts",
    changes: [["parsed.checkPrivateKey(privateKey) ?", "privateKey !== undefined ?"]],
    killedBy: "a certificate is used with its own key only",
  },
  {
    name: "authority-read-once-a-minute",
    world: "kits",
    file: "src/kube/config/file.ts",
    changes: [["      authority?.forget();\n", ""]],
    killedBy: "files are read anew when TLS fails",
  },
  {
    name: "limit-waits-for-the-work",
    world: "kits",
    file: "src/runtime/world.ts",
    changes: [["return await unlessAborted(inner.signal, work(inner.signal));", "return await work(inner.signal);"]],
    killedBy: "what has a time limit ends by it",
  },
  {
    name: "queue-runs-key-twice",
    world: "kits",
    file: "src/runtime/queue.ts",
    changes: [["if (this.#running.has(key)) {", "if (false) {"]],
    killedBy: "a key is never worked on twice at once",
  },
  {
    name: "election-renews-late",
    world: "kits",
    file: "src/runtime/election.ts",
    changes: [
      [">= this.#options.timings.renewDeadlineMs", ">= 3 * this.#options.timings.leaseDurationMs"],
      ["this.#renewedAt + this.#options.timings.renewDeadlineMs", "this.#renewedAt + 3 * this.#options.timings.leaseDurationMs"],
    ],
    killedBy: "no write starts without the lease",
  },
  {
    name: "coalescer-fails-neighbours",
    world: "kits",
    file: "src/aws/coalescer.ts",
    changes: [
      [
        "const named = batch.length > 1 ? keysInError?.(error, items.map(keyOf)) : undefined;",
        "const named = undefined as readonly string[] | undefined; void keysInError;",
      ],
    ],
    killedBy: "each asker gets the answer to its own question",
  },
  {
    name: "background-takes-every-call",
    world: "kits",
    file: "src/aws/coalescer.ts",
    changes: [["const maxBackground = maxInFlight - 1;", "const maxBackground = maxInFlight;"]],
    killedBy: "a user's question does not wait behind the background",
  },
  {
    name: "time-limit-ends-with-the-headers",
    world: "kits",
    file: "src/runtime/world.ts",
    changes: [["return await unlessAborted(inner.signal, work(inner.signal));", "return await work(inner.signal);"]],
    killedBy: "nobody waits for credentials for ever",
  },
  {
    name: "keys-asked-for-at-every-call",
    world: "kits",
    file: "src/aws/credentials.ts",
    changes: [["if (tried && current !== undefined && left > 0) return current;", ""]],
    killedBy: "the same keys are not asked for at every call",
  },
  {
    name: "finalizer-goes-early",
    world: "services",
    file: "src/loadbalancers/service/clean-up.ts",
    changes: [["  if (outcome !== undefined) return outcome;", "  void outcome;"]],
    killedBy: "a finalizer goes only after all it guards",
  },
  {
    name: "removal-waits-in-silence",
    world: "services",
    file: "src/loadbalancers/service/waiting.ts",
    changes: [["const patienceMs = 30_000;", "const patienceMs = 300_000;"]],
    killedBy: "a removal that lasts says so",
  },
  {
    name: "target-group-stays",
    world: "services",
    file: "src/loadbalancers/remove.ts",
    changes: [["await kind.targetGroups(owner, of(kind), inventory, ages.absentMs, ask)", "[]"]],
    killedBy: "nothing is left",
  },
  {
    name: "shared-rule-goes-with-its-name",
    world: "services",
    file: "src/loadbalancers/groups/node-rules.ts",
    changes: [["  return isClaimed ||", '  return (isClaimed && !rule.description?.includes("/health=")) ||']],
    killedBy: "no rule another Service needs is removed",
  },
  {
    name: "others-rules-taken-for-ours",
    world: "services",
    file: "src/loadbalancers/groups/node-rules.ts",
    changes: [
      [
        "  return [...claims.values()].some(({ marks }) => isMarked(rule, marks)) ||",
        '  return rule.description?.startsWith("kubernetes.io/rule/nlb/") ||',
      ],
    ],
    killedBy: "nothing foreign is touched",
  },
  {
    name: "failed-look-up-deletes-routes",
    world: "nodes",
    file: "src/routes/plan.ts",
    changes: [
      ["    desired.undecided.has(route.destination) ||\n", ""],
      ["    (refused.get(route.destination) ?? []).some(({ node }) => leadsTo(route, node));", "    (void refused, false);"],
    ],
    killedBy: "a working route of a Node that lives is never taken away",
  },
  {
    name: "registers-nodes-of-another-vpc",
    world: "services",
    file: "src/loadbalancers/targets.ts",
    changes: [["instance.vpc === undefined || instance.vpc === vpc;", "instance.vpc !== vpc || true;"]],
    killedBy: "no machine of another VPC is offered as a target",
  },
  {
    name: "one-refused-target-fails-its-batch",
    world: "services",
    file: "src/aws/apply.ts",
    changes: [["if (step.batch?.refusedBy.includes(error.code)) {", "if (step.batch?.refusedBy.includes(error.code) && false) {"]],
    killedBy: "what is wanted exists, and nothing else",
  },
  {
    name: "claim-leaves-unknown-entry",
    world: "services",
    file: "src/loadbalancers/groups/claim-book.ts",
    changes: [
      ['if (entry?.kind === "unknown") this.forget(owner);', ""],
      [
        "[{ kind: entry.owner.kind, names: entry.names }]",
        "[...(this.#byUid.get(entry.owner.uid)?.values() ?? [])].map(({ kind }) => ({ kind, names: entry.names }))",
      ],
    ],
    killedBy: "what is wanted exists, and nothing else: node rule",
  },
  {
    name: "quota-of-one-stops-all",
    world: "services",
    file: "src/loadbalancers/groups/grants.ts",
    changes: [["if (!isAwsError(error) || isAwsError(error, ...everybodys)) throw error;", "if (Math.abs(1) > 0) throw error;"]],
    killedBy: "what is wanted exists, and nothing else",
  },
  {
    name: "held-deletion-is-waited-for",
    world: "services",
    file: "src/loadbalancers/service/controller.ts",
    changes: [["!followsNodes(service) ||", "(!followsNodes(service) && !service.metadata.deletionTimestamp) ||"]],
    killedBy: "what is wanted exists, and nothing else",
  },
  {
    name: "address-of-others-taken-for-ours",
    world: "services",
    file: "src/loadbalancers/service/clean-up.ts",
    changes: [["(hasOwnHostname(owner) && !isAdopted)", 'service.hostname.startsWith(owner.chosenName ?? "/")']],
    killedBy: "another controller's Service is left alone",
  },
  {
    name: "unmarked-target-group-goes",
    world: "services",
    file: "src/loadbalancers/target-groups.ts",
    changes: [
      ["return groups.filter((group) => !strangers.has(group));", "return groups.filter((group) => !strangers.has(group) || true);"],
    ],
    killedBy: "nothing is deleted without our mark",
  },
  {
    name: "unmarked-security-group-goes",
    world: "services",
    file: "src/loadbalancers/inventory.ts",
    changes: [["owned: this.scope.owns?.(group.tags) ?? isOwned(group.tags, this.scope.cluster)", "owned: group.name !== isOwned.name"]],
    killedBy: "nothing is deleted without our mark",
  },
  {
    name: "claims-after-the-last-step-only",
    world: "services",
    file: "src/loadbalancers/service/ensure.ts",
    changes: [
      ["await expectAccess(claimant, seen, context, ask);", "void expectAccess;"],
      ["context.book.stopped(claimant);", ""],
    ],
    killedBy: "no rule another Service needs is removed",
  },
  {
    name: "deregisters-before-successors-are-healthy",
    world: "bindings",
    file: "src/loadbalancers/targets/binding-plan.ts",
    changes: [["const held = starting ? surplus.filter(mayWait) : [];", "const held: readonly SeenTarget[] = [];"]],
    killedBy: "no target of a serving pod is deregistered before its successor is healthy",
  },
  {
    name: "gate-answered-at-registration",
    world: "bindings",
    file: "src/loadbalancers/targets/gates.ts",
    changes: [['const registering: GateVerdict = {\n  status: "False",', 'const registering: GateVerdict = {\n  status: "True",']],
    killedBy: "a rollout with gates has as many healthy targets as it promised",
  },
  {
    name: "deregisters-other-clusters-targets",
    world: "bindings",
    file: "src/loadbalancers/targets/multi-cluster.ts",
    changes: [["return targets.filter((target) => record?.has(identityOf(target)));", "return targets;"]],
    killedBy: "a target of another cluster stays",
  },
  ...classMutants,
  ...gatewayMutants,
  ...ingressMutants,
  ...interruptionMutants,
  ...volumeMutants,
];

/** From now on the module is loaded with the fault in it. Must be called before anybody imports it. */
export function loadMutant(name: string): Mutant {
  const mutant = mutants.find((one) => one.name === name);
  if (mutant === undefined) throw new Error(`no fault named ${name}; there are ${mutants.map((one) => one.name).join(", ")}`);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(`/${mutant.file}`)) return loaded;
      let source = String(loaded.source);
      for (const [from, to] of mutant.changes) {
        if (!source.includes(from)) throw new Error(`${mutant.name}: ${mutant.file} no longer holds "${from}"; write the mutant anew`);
        source = source.replaceAll(from, to);
      }
      return { ...loaded, source };
    },
  });
  return mutant;
}
