/** A Service that is only written down: what the API server would give it stands as a name for it. */
import type { Stored } from "../../kube/resource.ts";
import type { Service } from "../../kube/types.ts";
import { targetGroupPrefix } from "../names.ts";
import { type SeenService, serviceState } from "../service-state.ts";
import type { Survey } from "../survey.ts";

/** The UID nobody knows yet, so that names made of it read `a<uid>`. */
export const unknownUid = "<uid>";
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
export function withUnknowns(text: string, service: SeenService, survey: Survey | undefined): string {
  let named = text;
  const prefix = targetGroupPrefix(service.view);
  for (const { name, port, listenerPort } of survey?.kind.plannedTargetGroups(survey.desire.model) ?? []) {
    if (port >= firstUnknownPort) named = named.replaceAll(name, `${prefix}<hash:${listenerPort}>`);
  }
  const group = survey?.kind.managedGroupName(survey.owner, survey.desire.model.name);
  // Only names that are made like those of target groups have a hash of the UID in them.
  if (service.metadata.uid === unknownUid && group?.startsWith(prefix)) named = named.replaceAll(group, `${prefix}<hash>`);
  for (const { port, nodePort } of service.view.ports) {
    if (nodePort >= firstUnknownPort) named = named.replaceAll(String(nodePort), `<nodePort:${port}>`);
  }
  return named.replaceAll(String(firstUnknownPort), "<healthCheckNodePort>");
}
