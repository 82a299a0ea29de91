/** What users see of GatewayClasses and configurations: finalizers and status. */
import type { Frozen, KubeObject, Resource } from "../../kube/resource.ts";
import type { ReportParts } from "../controller-report.ts";
import { gatewayClasses } from "./api.ts";
import type { ListenerRuleSettings } from "./config.ts";
import { isSameStatus } from "./same-status.ts";
import type { ClassState, ConfigurationState } from "./states.ts";
import { VersionedReport } from "./versioned-report.ts";
import type { Condition } from "./view.ts";

type SeenClass = Frozen<ClassState>;

export class ClassReport extends VersionedReport<SeenClass> {
  constructor(parts: ReportParts) {
    super(gatewayClasses, parts);
  }

  annotate(of: SeenClass, annotations: Readonly<Record<string, string>>, signal: AbortSignal): Promise<boolean> {
    return this.patch(of, { metadata: { annotations } }, undefined, signal);
  }

  /** Says nothing that is said already. False: the class has changed since it was seen. */
  async publish(of: SeenClass, conditions: readonly Condition[], features: readonly string[], signal: AbortSignal): Promise<boolean> {
    if (isSameStatus(of.view.conditions, conditions) && isSameStatus(of.features, features)) return true;
    return this.patch(of, { status: { conditions, supportedFeatures: features.map((name) => ({ name })) } }, "status", signal);
  }
}

export type SeenConfiguration = Frozen<ConfigurationState<object>>;

/** Of the three kinds of configuration. */
export class ConfigurationReport {
  readonly #parts: ReportParts;
  readonly #reports = new Map<string, FinalizerReport>();

  constructor(parts: ReportParts) {
    this.#parts = parts;
  }

  setFinalizer(
    of: Resource<KubeObject>,
    object: SeenConfiguration,
    finalizer: string,
    isWanted: boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    return this.#of(of).setFinalizer(object, finalizer, isWanted, signal);
  }

  /** Whether a rule's configuration can be used. */
  async judge(
    of: Resource<KubeObject>,
    rule: Frozen<ConfigurationState<ListenerRuleSettings>>,
    { accepted, message }: { readonly accepted: boolean; readonly message: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { generation: observedGeneration } = rule;
    if (rule.accepted === accepted && rule.message === message && rule.observedGeneration === observedGeneration) return true;
    return this.#of(of).write(rule, { status: { accepted, message, observedGeneration } }, signal);
  }

  #of(of: Resource<KubeObject>): FinalizerReport {
    const known = this.#reports.get(of.plural) ?? new FinalizerReport(of, this.#parts);
    this.#reports.set(of.plural, known);
    return known;
  }
}

class FinalizerReport extends VersionedReport<SeenConfiguration> {
  write(object: SeenConfiguration, merge: object, signal: AbortSignal): Promise<boolean> {
    return this.patch(object, merge, "status", signal);
  }
}
