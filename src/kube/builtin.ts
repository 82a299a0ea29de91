/** The built-in resources that more than one part of the product reads or writes. */

import { resource } from "./resource.ts";
import type {
  ConfigMap,
  DaemonSet,
  EndpointSlice,
  Event,
  Lease,
  Namespace,
  Node,
  Pod,
  Secret,
  Service,
  ServiceAccount,
  SubjectAccessReview,
  TokenReview,
} from "./types.ts";

export const nodes = resource<Node>({ group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false });
export const services = resource<Service>({ group: "", version: "v1", plural: "services", kind: "Service", namespaced: true });
export const pods = resource<Pod>({ group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true });
export const secrets = resource<Secret>({ group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true });
export const configMaps = resource<ConfigMap>({ group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true });
export const namespaces = resource<Namespace>({ group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false });
export const events = resource<Event>({ group: "", version: "v1", plural: "events", kind: "Event", namespaced: true });
export const serviceAccounts = resource<ServiceAccount>({
  group: "",
  version: "v1",
  plural: "serviceaccounts",
  kind: "ServiceAccount",
  namespaced: true,
});
export const endpointSlices = resource<EndpointSlice>({
  group: "discovery.k8s.io",
  version: "v1",
  plural: "endpointslices",
  kind: "EndpointSlice",
  namespaced: true,
});
export const leases = resource<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
});
export const tokenReviews = resource<TokenReview>({
  group: "authentication.k8s.io",
  version: "v1",
  plural: "tokenreviews",
  kind: "TokenReview",
  namespaced: false,
});
export const subjectAccessReviews = resource<SubjectAccessReview>({
  group: "authorization.k8s.io",
  version: "v1",
  plural: "subjectaccessreviews",
  kind: "SubjectAccessReview",
  namespaced: false,
});
export const daemonSets = resource<DaemonSet>({ group: "apps", version: "v1", plural: "daemonsets", kind: "DaemonSet", namespaced: true });
