import { asList, asObject, asText, type JsonObject } from "../json.ts";
import type { Behaviour } from "../resources.ts";
import { fieldErrors } from "../status.ts";

const toleration = (key: string): JsonObject => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 });

export const pods: Behaviour = {
  empty: { spec: { containers: null }, status: {} },
  selectable: {
    "spec.nodeName": (pod) => asText(asObject(pod.spec).nodeName),
    "spec.restartPolicy": (pod) => asText(asObject(pod.spec).restartPolicy),
    "spec.schedulerName": (pod) => asText(asObject(pod.spec).schedulerName),
    "spec.serviceAccountName": (pod) => asText(asObject(pod.spec).serviceAccountName),
    "spec.hostNetwork": (pod) => String(asObject(pod.spec).hostNetwork === true),
    "status.phase": (pod) => asText(asObject(pod.status).phase),
    "status.podIP": (pod) => asText(asObject(pod.status).podIP),
    "status.nominatedNodeName": (pod) => asText(asObject(pod.status).nominatedNodeName),
  },
  complete(pod, before) {
    const spec = asObject(pod.spec);
    pod.spec = spec;
    spec.containers = asList(spec.containers).map((item) => {
      const container = asObject(item);
      const image = asText(container.image);
      const tagged = /:[^/]*$/.test(image) && !image.endsWith(":latest");
      return {
        resources: {},
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
        imagePullPolicy: tagged ? "IfNotPresent" : "Always",
        ...container,
      };
    });
    spec.restartPolicy ??= "Always";
    spec.terminationGracePeriodSeconds ??= 30;
    spec.dnsPolicy ??= "ClusterFirst";
    spec.securityContext ??= {};
    spec.schedulerName ??= "default-scheduler";
    spec.enableServiceLinks ??= true;
    spec.priority ??= 0;
    spec.preemptionPolicy ??= "PreemptLowerPriority";
    const status = asObject(pod.status);
    if (Array.isArray(status.conditions)) {
      status.conditions = status.conditions.map((condition) => ({
        lastProbeTime: null,
        lastTransitionTime: null,
        ...asObject(condition),
      }));
    }
    if (before === undefined) {
      spec.tolerations = [
        ...asList(spec.tolerations),
        toleration("node.kubernetes.io/not-ready"),
        toleration("node.kubernetes.io/unreachable"),
      ];
      pod.status = { phase: "Pending", qosClass: "BestEffort" };
    }
  },
  validate(pod) {
    const containers = asList(asObject(pod.spec).containers);
    if (containers.length === 0) return [fieldErrors.required("spec.containers")];
    return containers.flatMap((item, i) => {
      const container = asObject(item);
      return [
        ...(asText(container.name) === "" ? [fieldErrors.required(`spec.containers[${i}].name`)] : []),
        ...(asText(container.image) === "" ? [fieldErrors.required(`spec.containers[${i}].image`)] : []),
      ];
    });
  },
};
