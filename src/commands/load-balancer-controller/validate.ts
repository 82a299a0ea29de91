/** Command lines that cannot work. */
import { isTrackingTag } from "../../loadbalancers/ingress/names.ts";
import { type Gate, gateOpen } from "./feature-gates.ts";
import type { Options } from "./flags.ts";

type Count = `${"targetgroupbinding" | "ingress" | "service" | "alb-gateway" | "nlb-gateway" | "gateway-class"}-max-concurrent-reconciles`;

/** Mistakes in the options that no flag by itself shows; each names the flag. */
export function optionProblems(options: Options): readonly string[] {
  const least = (name: Count, min: number) => (options[name] < min ? [`--${name}=${options[name]}: must be at least ${min}`] : []);
  const oneOf = (name: "default-target-type" | "default-load-balancer-scheme", what: string, allowed: readonly string[]) =>
    allowed.includes(options[name]) ? [] : [`invalid value ${options[name]} for ${what}: --${name} takes ${allowed.join(" or ")}`];
  return [
    ...(options["cluster-name"] === "" ? ["kubernetes cluster name must be specified: set --cluster-name"] : []),
    ...least("targetgroupbinding-max-concurrent-reconciles", 1),
    ...least("ingress-max-concurrent-reconciles", 1),
    ...least("service-max-concurrent-reconciles", 1),
    ...least("alb-gateway-max-concurrent-reconciles", 1),
    ...least("nlb-gateway-max-concurrent-reconciles", 1),
    ...least("gateway-class-max-concurrent-reconciles", 1),
    ...oneOf("default-target-type", "default target type", ["instance", "ip"]),
    ...oneOf("default-load-balancer-scheme", "default scheme", ["internal", "internet-facing"]),
    ...tagProblems(options),
    ...groupProblems(options),
    ...(options["required-secrets-label"] !== "" && requiredLabel(options) === undefined
      ? [`invalid value "${options["required-secrets-label"]}" for --required-secrets-label: must be in key=value format`]
      : []),
  ];
}

/** Gates of parts that this build does not have; opening one changes nothing. */
const unbuiltGates: Readonly<Partial<Record<Gate, string>>> = {
  ALBTargetControlAgent: "no sidecar is given to pods: put the container of the target control agent into the pod template",
  GlobalAcceleratorController: "GlobalAccelerators are not served",
};

/** What works, but not as its author may have meant. */
export function optionWarnings({ "feature-gates": given }: Options): readonly string[] {
  const open = (Object.keys(unbuiltGates) as Gate[]).filter((gate) => gateOpen(given, gate));
  return open.map((gate) => `feature gate ${gate} has no effect in this build: ${unbuiltGates[gate]}`);
}

/** The label that a Secret must carry to be read. */
export function requiredLabel(options: Options): { readonly key: string; readonly value: string } | undefined {
  const given = options["required-secrets-label"];
  const at = given.indexOf("=");
  const [key, value] = [given.slice(0, Math.max(at, 0)), given.slice(at + 1)];
  return at > 0 && value !== "" ? { key, value } : undefined;
}

/** Marks by which things are found cannot be given, nor left to others. */
function tagProblems(options: Options): readonly string[] {
  const given = Object.keys(options["default-tags"]);
  const external = options["external-managed-tags"];
  return [
    ...given.filter(isTrackingTag).map((key) => `tag key ${key} cannot be specified in default-tags flag`),
    ...external.filter(isTrackingTag).map((key) => `tag key ${key} cannot be specified in external-managed-tags flag`),
    ...external
      .filter((key) => given.includes(key))
      .map((key) => `tag key ${key} cannot be specified in both default-tags and external-managed-tags flag`),
  ];
}

function groupProblems(options: Options): readonly string[] {
  const group = options["backend-security-group"];
  return [
    ...(group === "" || group.startsWith("sg-")
      ? []
      : [`invalid value ${group} for backend security group id: --backend-security-group takes an id such as sg-0123`]),
    ...(options["enable-manage-backend-security-group-rules"] && !options["enable-backend-security-group"]
      ? ["backend security group must be enabled when manage backend security group rule is enabled: set --enable-backend-security-group"]
      : []),
  ];
}
