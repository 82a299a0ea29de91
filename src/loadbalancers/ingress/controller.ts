/** The Ingress controller: every group of Ingresses has its load balancer, and nothing is left of those that are gone. */
import type { Ask } from "../../aws/ask.ts";
import { watchSource } from "../../kube/watch-source.ts";
import { again, type Controller, done, type Outcome, type Source } from "../../runtime/controller.ts";
import { sleep } from "../../runtime/world.ts";
import { labelValue } from "../controller-names.ts";
import { FollowedSecrets } from "../followed-secrets.ts";
import { Refusals } from "../refusals.ts";
import { matchesSelector } from "../targets/selector.ts";
import { Checkpoints } from "./checkpoint.ts";
import { type ClassSources, classOf } from "./classes.ts";
import type { GroupContext, IngressParts } from "./context.ts";
import { type Group, type GroupId, groupOf, groupsFinalized, isAddressed, type Membership, membershipOf, stackOf } from "./groups.ts";
import { IngressMetrics } from "./metrics.ts";
import { reconcileGroup } from "./pass.ts";
import { wishText } from "./refusals.ts";
import { Report } from "./report.ts";
import type { SeenIngress } from "./seen.ts";
import { type IngressView, keyOf, sameWish } from "./view.ts";

/** The key of the security group that all groups share; no group can have this name. */
const sharedKey = "*";
const sharedMs = 15_000;

const backoff = { baseMs: 1_000, maxMs: 300_000 };

export function ingressController(parts: IngressParts): Controller {
  const loop = new IngressLoop(parts);
  return loop.controller();
}

class IngressLoop {
  readonly #parts: IngressParts;
  readonly #context: GroupContext;
  #wake: (key: string) => void = () => {};

  constructor(parts: IngressParts) {
    this.#parts = parts;
    const { kube, recorder, host } = parts;
    const secrets = new FollowedSecrets(kube, host.world.clock, parts.requiredSecretsLabel);
    const report = new Report({ kube, recorder });
    this.#context = {
      ...parts,
      report,
      metrics: new IngressMetrics(parts.host.metrics, parts.host.world.clock, {
        ingress: () => parts.ingresses.list().length,
        service: () => parts.services.list().length,
        targetgroupbinding: () => parts.bindings.list().length,
      }),
      secrets,
      memory: new Map(),
      handedOver: new Map(),
      refusals: new Refusals(parts.host.world.clock, wishText),
      checkpoints: new Checkpoints(parts.host.world, (...written) => report.recordCheckpoint(...written)),
      provenCertificates: new Map(),
      usedCertificates: new Map(),
      isAddressed: (view, group) => isAddressed(view, this.#membership(view), group),
      now: () => parts.host.world.clock.now(),
      attributesAgeMs: 60 * 60_000,
    };
    parts.backendGroup.addUser(() => !this.#knowsClasses || !parts.ingresses.hasSynced || this.#hasGroups());
    secrets.onChange = (key) => this.#wakeNamespace(key.split("/")[0] ?? "");
  }

  controller(): Controller {
    const { ingresses, services, classes, params, namespaces, bindings, concurrency } = this.#parts;
    const all = () => ingresses.list().flatMap((ingress) => this.#groupKeys(ingress));
    return {
      name: "ingress",
      concurrency,
      backoff,
      sources: [
        // Who looks at Ingresses without knowing their classes, Services and bindings takes away what is right.
        ...[services, classes, params, namespaces, bindings].map((each) => ({ name: each.name, start: () => each.synced })),
        watchSource(ingresses, (before, after) => this.#keysOf(before, after)),
        watchSource(services, (before, after) => this.#byService((after ?? before)!.metadata)),
        watchSource(classes, all),
        watchSource(params, all),
        watchSource(bindings, (before, after) => (after === undefined && before ? this.#byLabels(before.metadata.labels) : [])),
        this.#wakeSource(),
        this.#resync(all),
      ],
      reconcile: (key, signal) => this.#reconcile(key, signal),
    };
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    if (key === sharedKey) return this.#releaseShared({ cause: "shared security group", signal, urgency: "background" });
    this.#context.metrics.passed(key);
    const ask: Ask = { cause: `ingress group ${key}`, signal, urgency: "user" };
    return reconcileGroup(this.#group(idOf(key)), this.#context, ask);
  }

  #group(id: GroupId): Group {
    const views = this.#parts.ingresses.list().map(({ view }) => view);
    return groupOf(id, views, (view) => this.#membership(view));
  }

  #membership(view: IngressView): Membership {
    return membershipOf(view, classOf(view, this.#classes()));
  }

  #classes(): ClassSources {
    const { ingressClass, classes, params, namespaces } = this.#parts;
    return {
      ingressClass,
      classes: classes.list().map(({ view }) => view),
      params: (name) => params.get(name)?.view,
      namespaceMatches: (namespace, selector) => {
        const labels = namespaces.get(namespace)?.labels;
        return labels !== undefined && matchesSelector(selector, labels);
      },
    };
  }

  /** The group that an Ingress is in, and those that it has not left yet. */
  #groupKeys({ view }: SeenIngress): readonly string[] {
    const membership = this.#membership(view);
    const current = membership.kind === "in" ? [membership.group] : [];
    return [...new Set([...groupsFinalized(view), ...current].map(stackOf))];
  }

  #keysOf(before: SeenIngress | undefined, after: SeenIngress | undefined): readonly string[] {
    if (after === undefined) return before ? [...this.#groupKeys(before), sharedKey] : [];
    if (before && sameWish(before.view, after.view)) return this.#byFinalizers(before.view, after.view);
    if (this.#knowsClasses) this.#tellInvalid(after);
    return [...new Set([...(before ? this.#groupKeys(before) : []), ...this.#groupKeys(after)])];
  }

  /** Where only finalizers have changed: a group that lost its own puts it back, and one that holds an Ingress of another group lets it go. */
  #byFinalizers(before: IngressView, after: IngressView): readonly string[] {
    const [heldBefore, heldNow] = [before, after].map((view) => groupsFinalized(view).map(stackOf)) as [string[], string[]];
    const membership = this.#membership(after);
    const own = membership.kind === "in" ? stackOf(membership.group) : undefined;
    const isConcerned = (key: string) => heldBefore.includes(key) !== heldNow.includes(key) && heldNow.includes(key) !== (key === own);
    const shared = after.finalizers.length < before.finalizers.length ? [sharedKey] : [];
    return [...new Set([...heldBefore, ...heldNow])].filter(isConcerned).concat(shared);
  }

  /** Before that nobody knows whether a class is missing. */
  get #knowsClasses(): boolean {
    const { classes, params, namespaces } = this.#parts;
    return [classes, params, namespaces].every(({ hasSynced }) => hasSynced);
  }

  #tellInvalid(ingress: SeenIngress): void {
    const membership = this.#membership(ingress.view);
    if (membership.kind !== "invalid-class" && membership.kind !== "invalid-group") return;
    this.#context.metrics.failed("FailedLoadGroupID");
    this.#context.report.failed(ingress, "FailedLoadGroupID", membership.message);
  }

  /** Groups of Ingresses that name a Service, plainly or somewhere in their annotations. */
  #byService({ namespace, name }: { readonly namespace: string; readonly name: string }): readonly string[] {
    const isNamed = ({ view }: SeenIngress) =>
      view.namespace === namespace &&
      (view.defaultBackend?.service?.name === name ||
        view.rules.some(({ paths }) => paths.some(({ backend }) => backend.service?.name === name)) ||
        Object.values(view.annotations).some((text) => text.includes(`"${name}"`)));
    return this.#parts.ingresses
      .list()
      .filter(isNamed)
      .flatMap((ingress) => this.#groupKeys(ingress));
  }

  #byLabels(labels: Readonly<Record<string, string>>): readonly string[] {
    const stack = labels["ingress.k8s.aws/stack"];
    if (stack !== undefined) return [stack];
    const namespace = labels["ingress.k8s.aws/stack-namespace"];
    const name = labels["ingress.k8s.aws/stack-name"];
    // A long name is shortened in a label.
    const isMeant = ({ view }: SeenIngress) => view.namespace === namespace && labelValue(view.name) === name;
    return this.#parts.ingresses
      .list()
      .filter(isMeant)
      .map(({ view }) => keyOf(view));
  }

  #wakeNamespace(namespace: string): void {
    for (const ingress of this.#parts.ingresses.list()) {
      if (ingress.metadata.namespace === namespace) for (const key of this.#groupKeys(ingress)) this.#wake(key);
    }
  }

  #wakeSource(): Source {
    return {
      name: "secrets",
      start: async (enqueue, signal) => {
        this.#wake = enqueue;
        signal.addEventListener("abort", () => this.#context.secrets.close(), { once: true });
        const { ingresses, classes, params, namespaces } = this.#parts;
        void Promise.all([ingresses, classes, params, namespaces].map(({ synced }) => synced)).then(() => {
          for (const ingress of ingresses.list()) {
            this.#tellInvalid(ingress);
            for (const key of this.#groupKeys(ingress)) enqueue(key);
          }
        });
        // Whoever ran before may have ended between the last Ingress and the group that all had shared.
        enqueue(sharedKey, "background");
      },
    };
  }

  /** Everything is looked at again once in a while, spread over it. */
  #resync(all: () => readonly string[]): Source {
    const { host, syncPeriodMs } = this.#parts;
    return {
      name: "resync",
      start: async (enqueue, signal) => {
        const rounds = async () => {
          for (;;) {
            await sleep(host.world.clock, syncPeriodMs, signal);
            for (const key of all()) enqueue(key, "background");
          }
        };
        // Rejects when it is asked to end.
        void rounds().catch(() => {});
      },
    };
  }

  #hasGroups(): boolean {
    return this.#parts.ingresses.list().some((ingress) => this.#groupKeys(ingress).length > 0);
  }

  /** Nobody has, or wants, a load balancer: the group that they shared goes too. */
  async #releaseShared(ask: Ask): Promise<Outcome> {
    const { backendGroup } = this.#parts;
    if (backendGroup.isNeeded) return done;
    return (await backendGroup.release(ask)) ? done : again(sharedMs, "the shared security group is still in use");
  }
}

/** A key with a slash is an Ingress that is a group of its own. */
function idOf(key: string): GroupId {
  const [namespace = "", name] = key.split("/");
  return name === undefined ? { kind: "explicit", name: namespace } : { kind: "implicit", namespace, name };
}
