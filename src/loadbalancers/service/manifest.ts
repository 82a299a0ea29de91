/** A Service that is only written down: what the API server would give it stands as a name for it. */
import type { Service } from "kubernetes-types/core/v1.d.ts";
import type { Stored } from "../../kube/resource.ts";
import { networkSecurityGroupName, targetGroupPrefix } from "../names.ts";
import { type SeenService, serviceState } from "./seen.ts";
import type { Survey } from "./survey.ts";
import { kindOf } from "./type-annotation.ts";
import type { LoadBalancerSettings } from "./view.ts";

/** The UID nobody knows yet, so that names made of it read `a<uid>`. */
const unknownUid = "<uid>";
/** Node ports nobody knows yet count from here: no real port is as high. */
const firstUnknownPort = 1_000_000;

/** The Service of a manifest as it will be stored, over the one of its name that is there already. */
export function serviceOfManifest(manifest: Service, live: Stored<Service> | undefined, defaultNamespace: string): SeenService {
  const { metadata = {}, spec = {} } = manifest;
  const namespace = metadata.namespace ?? defaultNamespace;
  const known = live?.spec?.ports ?? [];
  const ports = (spec.ports ?? []).map((port) => ({
    ...port,
    nodePort: port.nodePort ?? known.find((each) => each.port === port.port)?.nodePort ?? firstUnknownPort + port.port,
  }));
  const local = spec.externalTrafficPolicy === "Local" && spec.type === "LoadBalancer";
  const stored: Stored<Service> = {
    ...live,
    metadata: {
      ...metadata,
      name: metadata.name ?? "",
      namespace,
      uid: live?.metadata.uid ?? unknownUid,
      resourceVersion: live?.metadata.resourceVersion ?? "",
      ...(live?.metadata.finalizers && { finalizers: live.metadata.finalizers }),
    },
    spec: {
      ...spec,
      ports,
      ...(local && { healthCheckNodePort: spec.healthCheckNodePort ?? live?.spec?.healthCheckNodePort ?? firstUnknownPort }),
    },
  };
  return serviceState(stored);
}

/** Puts names in the place of what cannot be known: `<nodePort:80>`, `k8s-default-web-<hash:80>`. */
export function withUnknowns(text: string, service: SeenService, survey: Survey | undefined, settings: LoadBalancerSettings): string {
  let named = text;
  const prefix = targetGroupPrefix(service.view);
  const { model } = survey?.desire ?? {};
  if (model?.kind === "network") {
    for (const { name, port } of model.targetGroups) {
      const listener = model.listeners.find(({ forwardTo }) => forwardTo === name);
      if (port >= firstUnknownPort) named = named.replaceAll(name, `${prefix}<hash:${listener?.port}>`);
    }
  }
  if (service.metadata.uid === unknownUid && kindOf(service.view.annotations) === "network") {
    named = named.replaceAll(networkSecurityGroupName(settings.clusterName, service.view), `${prefix}<hash>`);
  }
  for (const { port, nodePort } of service.view.ports) {
    if (nodePort >= firstUnknownPort) named = named.replaceAll(String(nodePort), `<nodePort:${port}>`);
  }
  return named.replaceAll(String(firstUnknownPort), "<healthCheckNodePort>");
}
