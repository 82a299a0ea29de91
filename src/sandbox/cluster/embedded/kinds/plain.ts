/** Kinds that need only a default or a check here and there. */
import { asList, asObject, asText, type KubeObject, same } from "../json.ts";
import type { Behaviour } from "../resources.ts";
import { type FieldError, fieldErrors } from "../status.ts";

export const namespaces: Behaviour = {
  empty: { spec: {}, status: {} },
  selectable: { "status.phase": (namespace) => asText(asObject(namespace.status).phase) },
  complete(namespace, before) {
    namespace.metadata.labels = { ...asObject(namespace.metadata.labels), "kubernetes.io/metadata.name": namespace.metadata.name };
    if (before === undefined) {
      namespace.spec = { ...asObject(namespace.spec), finalizers: ["kubernetes"] };
      namespace.status = { phase: "Active" };
    }
    const spec = asObject(namespace.spec);
    if (asList(spec.finalizers).length === 0) delete spec.finalizers;
  },
  restrict(namespace, before, subresource) {
    if (subresource !== "finalize") namespace.spec = { ...asObject(namespace.spec), finalizers: asList(asObject(before.spec).finalizers) };
  },
};

const involved = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

export const events: Behaviour = {
  empty: {
    involvedObject: {},
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: "",
    reportingInstance: "",
  },
  selectable: {
    ...Object.fromEntries(
      involved.map((name) => [`involvedObject.${name}`, (event: KubeObject) => asText(asObject(event.involvedObject)[name])]),
    ),
    reason: (event) => asText(event.reason),
    type: (event) => asText(event.type),
    reportingComponent: (event) => asText(event.reportingComponent),
    source: (event) => asText(asObject(event.source).component) || asText(event.reportingComponent),
  },
  complete(event) {
    for (const [name, value] of Object.entries(events.empty!)) event[name] ??= value;
  },
  validate(event) {
    const namespace = asText(asObject(event.involvedObject).namespace) || "default";
    if (namespace === event.metadata.namespace || event.metadata.namespace === "kube-system") return [];
    return [
      fieldErrors.invalid("involvedObject.namespace", asText(asObject(event.involvedObject).namespace), "does not match event.namespace"),
    ];
  },
};

export const leases: Behaviour = {
  empty: { spec: {} },
  complete(lease) {
    lease.spec = asObject(lease.spec);
  },
  validate(lease) {
    const spec = asObject(lease.spec);
    const errors: FieldError[] = [];
    if (typeof spec.leaseDurationSeconds === "number" && spec.leaseDurationSeconds <= 0) {
      errors.push(fieldErrors.invalid("spec.leaseDurationSeconds", spec.leaseDurationSeconds, "must be greater than 0"));
    }
    if (typeof spec.leaseTransitions === "number" && spec.leaseTransitions < 0) {
      errors.push(fieldErrors.invalid("spec.leaseTransitions", spec.leaseTransitions, "must be greater than or equal to 0"));
    }
    return errors;
  },
};

export const secrets: Behaviour = {
  selectable: { type: (secret) => asText(secret.type) },
  complete(secret) {
    const data = asObject(secret.data);
    for (const [name, value] of Object.entries(asObject(secret.stringData))) data[name] = Buffer.from(asText(value)).toString("base64");
    delete secret.stringData;
    if (Object.keys(data).length > 0) secret.data = data;
    else delete secret.data;
    secret.type ??= "Opaque";
  },
  validate: (secret, before) => [
    ...immutableErrors(secret, before),
    ...(before !== undefined && secret.type !== before.type
      ? [fieldErrors.invalid("type", asText(secret.type), "field is immutable")]
      : []),
  ],
};

export const configMaps: Behaviour = {
  complete(configMap) {
    for (const name of ["data", "binaryData"]) if (Object.keys(asObject(configMap[name])).length === 0) delete configMap[name];
  },
  validate: immutableErrors,
};

function immutableErrors(object: KubeObject, before: KubeObject | undefined): FieldError[] {
  if (before?.immutable !== true) return [];
  const why = "field is immutable when `immutable` is set";
  return ["immutable", "data", "binaryData"]
    .filter((name) => !same(object[name], before[name]))
    .map((name) => fieldErrors.forbidden(name, why));
}

export const ingresses: Behaviour = {
  empty: { spec: {}, status: { loadBalancer: {} } },
  complete(ingress) {
    ingress.spec = asObject(ingress.spec);
    ingress.status = { loadBalancer: {}, ...asObject(ingress.status) };
  },
  validate(ingress) {
    const spec = asObject(ingress.spec);
    const errors: FieldError[] = [];
    if (asList(spec.rules).length === 0 && spec.defaultBackend === undefined) {
      errors.push(fieldErrors.invalid("spec", null, "either `defaultBackend` or `rules` must be specified"));
    }
    for (const [i, rule] of asList(spec.rules).entries()) {
      for (const [j, item] of asList(asObject(asObject(rule).http).paths).entries()) {
        const path = asObject(item);
        const field = `spec.rules[${i}].http.paths[${j}]`;
        const kinds = ["Exact", "ImplementationSpecific", "Prefix"];
        if (path.pathType === undefined) errors.push(fieldErrors.required(`${field}.pathType`, "pathType must be specified"));
        else if (!kinds.includes(asText(path.pathType))) errors.push(fieldErrors.unsupported(`${field}.pathType`, path.pathType, kinds));
      }
    }
    return errors;
  },
};

export const endpointSlices: Behaviour = {
  empty: { addressType: "", endpoints: null, ports: null },
  complete(slice) {
    slice.endpoints = Array.isArray(slice.endpoints) ? slice.endpoints.map((one) => ({ conditions: {}, ...asObject(one) })) : null;
    if (Array.isArray(slice.ports)) {
      slice.ports = slice.ports.map((port) => ({ name: "", protocol: "TCP", ...asObject(port) }));
    } else slice.ports = null;
  },
  validate(slice, before) {
    const kinds = ["FQDN", "IPv4", "IPv6"];
    if (!kinds.includes(asText(slice.addressType))) return [fieldErrors.required("addressType")];
    return before !== undefined && before.addressType !== slice.addressType
      ? [fieldErrors.invalid("addressType", slice.addressType ?? "", "field is immutable")]
      : [];
  },
};

export const endpoints: Behaviour = {
  complete(object) {
    for (const subset of asList(object.subsets)) {
      const ports = asObject(subset).ports;
      if (Array.isArray(ports)) asObject(subset).ports = ports.map((port) => ({ protocol: "TCP", ...asObject(port) }));
    }
  },
};

/** Role bindings name their role for life. */
export const bindings: Behaviour = {
  complete(binding) {
    if (Array.isArray(binding.subjects)) {
      binding.subjects = binding.subjects.map((item) => {
        const subject = asObject(item);
        return subject.kind === "ServiceAccount" ? subject : { apiGroup: "rbac.authorization.k8s.io", ...subject };
      });
    }
  },
  validate(binding, before) {
    if (before === undefined || same(binding.roleRef, before.roleRef)) return [];
    return [fieldErrors.invalid("roleRef", asObject(binding.roleRef), "cannot change roleRef")];
  },
};

/** Roles always show their rules. */
export const roles: Behaviour = {
  complete(role) {
    role.rules ??= null;
  },
};

/** A budget of which nothing has been counted allows nothing. */
export const disruptionBudgets: Behaviour = {
  complete(budget) {
    const nothing = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 };
    budget.status = { ...nothing, ...asObject(budget.status) };
  },
};
