/** Gives new pods the agent of target control, a container beside their own. Served where the gate ALBTargetControlAgent is open. */
import { isIP } from "node:net";
import type { KubeClient } from "../../kube/client.ts";
import type { JsonPatchOperation } from "../../kube/patch.ts";
import { allow, record, type Verdict } from "./review.ts";
import { type AgentConfig, agentConfig, logLevels, maxConcurrency, protocolVersions } from "./target-control-config.ts";
import type { Webhook } from "./webhook.ts";

const injectLabel = "elbv2.k8s.aws/alb-target-control-agent-inject";
const prefix = "elbv2.k8s.aws/alb-target-control-agent-";
const containerName = "alb-target-control-agent";

/** Two of one kind: the API server asks the first about namespaces that have it on, the second about single pods of others. */
export function targetControlWebhooks(kube: KubeClient): readonly Webhook[] {
  return (["namespace", "object"] as const).map((scope) => ({
    name: `alb-target-control.${scope}.elbv2.k8s.aws`,
    path: `/mutate-alb-target-control-${scope}-v1-pod`,
    phase: "mutating",
    rule: { group: "", version: "v1", resource: "pods", operations: ["CREATE"] },
    async answer({ namespace, object }, signal) {
      const asked = record(record(record(object).metadata).labels)[injectLabel];
      if (asked === "false" || (scope === "object" && asked !== "true")) return allow;
      const config = await agentConfig(kube, namespace, signal);
      return config === undefined ? allow : agentInjection(object, config);
    },
  }));
}

/** A mistake in an annotation of the pod refuses it: its author is told what is allowed. */
export function agentInjection(pod: unknown, config: AgentConfig): Verdict {
  const { metadata, spec } = record(pod);
  const { containers } = record(spec);
  const present = Array.isArray(containers) ? containers : [];
  if (present.some((container) => record(container).name === containerName)) return allow;
  const annotations = record(record(metadata).annotations);
  const { values, problems } = overridden(config, annotations);
  if (problems.length > 0) return { kind: "deny", category: "albTargetControlAgentInjector", message: problems.join("; ") };
  const marked = `${prefix}injected`;
  const mark: JsonPatchOperation =
    Object.keys(annotations).length > 0
      ? { op: "add", path: `/metadata/annotations/${marked.replaceAll("/", "~1")}`, value: "true" }
      : { op: "add", path: "/metadata/annotations", value: { [marked]: "true" } };
  const container = containerOf(values, resourcesOf(config, annotations));
  return { kind: "allow", patch: [{ op: "add", path: "/spec/containers/-", value: container }, mark] };
}

interface Row {
  readonly field: Exclude<keyof AgentConfig, "resources">;
  /** In the agent's environment; the image has none. */
  readonly variable?: string;
  readonly takes: string;
  fits(value: string): boolean;
}

const any = { takes: "a text", fits: (value: string) => value !== "" };
const address = { takes: "IP:port", fits: (value: string) => portOf(value) !== undefined && isIP(hostOf(value)) !== 0 };
const oneOf = (allowed: readonly string[]) => ({ takes: allowed.join(", "), fits: (value: string) => allowed.includes(value) });

/** Annotations by which a pod has something else than the configuration says, by what follows the prefix. */
const rows: Readonly<Record<string, Row>> = {
  image: { field: "image", ...any },
  "data-address": { field: "dataAddress", variable: "TARGET_CONTROL_DATA_ADDRESS", ...address },
  "control-address": { field: "controlAddress", variable: "TARGET_CONTROL_CONTROL_ADDRESS", ...address },
  "destination-address": { field: "destinationAddress", variable: "TARGET_CONTROL_DESTINATION_ADDRESS", ...address },
  "max-concurrency": {
    field: "maxConcurrency",
    variable: "TARGET_CONTROL_MAX_CONCURRENCY",
    takes: `a number from 0 to ${maxConcurrency}`,
    fits: (value) => /^\d+$/.test(value) && Number(value) <= maxConcurrency,
  },
  "tls-cert-path": { field: "tlsCertPath", variable: "TARGET_CONTROL_TLS_CERT_PATH", ...any },
  "tls-key-path": { field: "tlsKeyPath", variable: "TARGET_CONTROL_TLS_KEY_PATH", ...any },
  "tls-security-policy": { field: "tlsSecurityPolicy", variable: "TARGET_CONTROL_TLS_SECURITY_POLICY", ...any },
  "protocol-version": { field: "protocolVersion", variable: "TARGET_CONTROL_PROTOCOL_VERSION", ...oneOf(protocolVersions) },
  "rust-log": { field: "rustLog", variable: "RUST_LOG", ...oneOf(logLevels) },
};

type Values = Readonly<Partial<Record<Row["field"], string>>>;

function overridden(config: AgentConfig, annotations: Readonly<Record<string, unknown>>) {
  const problems: string[] = [];
  const values = Object.entries(rows).map(([name, { field, takes, fits }]) => {
    const said = annotations[prefix + name];
    const configured = config[field] ?? (field === "maxConcurrency" ? 1 : undefined);
    if (said === undefined) return [field, configured === undefined ? undefined : String(configured)] as const;
    if (!fits(String(said))) problems.push(`annotation ${prefix}${name}: ${JSON.stringify(said)}: it takes ${takes}`);
    return [field, String(said)] as const;
  });
  return { values: Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Values, problems };
}

function containerOf(values: Values, resources: object | undefined): object {
  const env = Object.values(rows).flatMap(({ field, variable }) => {
    const value = values[field];
    return variable === undefined || value === undefined || value === "" ? [] : [{ name: variable, value }];
  });
  const ports = (
    [
      ["data", values.dataAddress],
      ["control", values.controlAddress],
    ] as const
  ).flatMap(([name, at = ""]) => {
    const containerPort = portOf(at);
    return containerPort === undefined ? [] : [{ name, containerPort, protocol: "TCP" }];
  });
  return { name: containerName, image: values.image, env, ports, ...(resources && { resources }) };
}

const quantity = /^\d+(\.\d+)?(m|[kMGTPE]i?|e\d+)?$/;

/** What cannot be read of them is left as it is configured, as the reference does. */
function resourcesOf({ resources }: AgentConfig, annotations: Readonly<Record<string, unknown>>): object | undefined {
  const configured = record(resources);
  const said = (kind: "request" | "limit") =>
    Object.fromEntries(
      ["cpu", "memory"].flatMap((what) => {
        const value = annotations[`${prefix}${what}-${kind}`];
        return typeof value === "string" && quantity.test(value) ? [[what, value] as const] : [];
      }),
    );
  const requests = { ...record(configured.requests), ...said("request") };
  const limits = { ...record(configured.limits), ...said("limit") };
  const found = {
    ...configured,
    ...(Object.keys(requests).length > 0 && { requests }),
    ...(Object.keys(limits).length > 0 && { limits }),
  };
  return Object.keys(found).length > 0 ? found : undefined;
}

const hostOf = (at: string) => at.slice(0, at.lastIndexOf(":")).replace(/^\[|\]$/g, "");

function portOf(at: string): number | undefined {
  const port = Number(/:(\d+)$/.exec(at)?.[1]);
  return port > 0 && port < 65_536 ? port : undefined;
}
