/** Ingresses, their classes and the Services behind them, as informers keep them. */
import { createHash } from "node:crypto";
import { namespaces } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { type Informer, informer } from "../../kube/informer.ts";
import { type Frozen, type KubeObject, resource, type Stored } from "../../kube/resource.ts";
import type { Ingress, IngressBackend, IngressClass, Namespace } from "../../kube/types.ts";
import type { BackendView, ClassParams, ClassView, IngressView } from "./view.ts";

export const ingresses = resource<Ingress>({
  group: "networking.k8s.io",
  version: "v1",
  plural: "ingresses",
  kind: "Ingress",
  namespaced: true,
});
export const ingressClasses = resource<IngressClass>({
  group: "networking.k8s.io",
  version: "v1",
  plural: "ingressclasses",
  kind: "IngressClass",
  namespaced: false,
});

interface IngressClassParams extends KubeObject {
  readonly spec?: Omit<ClassParams, "name"> & { readonly PrefixListsIDs?: readonly string[] };
}

export const ingressClassParams = resource<IngressClassParams>({
  group: "elbv2.k8s.aws",
  version: "v1beta1",
  plural: "ingressclassparams",
  kind: "IngressClassParams",
  namespaced: false,
});

interface Identity {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface IngressState {
  readonly metadata: Identity;
  readonly view: IngressView;
  /** Digests of the Secrets that were sent to AWS for it, as they are recorded on it. */
  readonly sentSecrets: Readonly<Record<string, string>>;
  /** What its group's load balancer was when all of it was as wanted, where it is recorded on this one; empty: nowhere. */
  readonly checkpoint: string;
  /** Which attributes its group has set, where it is recorded on this one; each begins with the name of the group. */
  readonly setAttributes: readonly string[];
  /** A digest of the plan that is written on it; empty: none is. */
  readonly plan: string;
  /** What the status names. */
  readonly published: readonly { readonly hostname: string; readonly ip: string; readonly ports: readonly number[] }[];
}

export interface ClassState {
  readonly metadata: Omit<Identity, "namespace">;
  readonly view: ClassView;
}

export interface ParamsState {
  readonly metadata: Omit<Identity, "namespace">;
  readonly view: ClassParams;
}

export interface NamespaceState {
  readonly metadata: Omit<Identity, "namespace">;
  readonly labels: Readonly<Record<string, string>>;
}

export type SeenIngress = Frozen<IngressState>;
export type Ingresses = Informer<IngressState>;
export type Classes = Informer<ClassState>;
export type Params = Informer<ParamsState>;
export type Namespaces = Informer<NamespaceState>;

export type IngressInformers = ReturnType<typeof ingressInformers>;

/** Those of one namespace, or of all where it is empty. To be called once per process: every call gives keys of its own. */
export function ingressInformers(namespace: string) {
  const scope = namespace === "" ? {} : { namespace };
  return {
    ingresses: {
      name: "ingresses",
      make: (client: KubeClient): Ingresses => informer({ client, of: ingresses, ...scope, project: ingressState }),
    },
    classes: {
      name: "ingressclasses",
      make: (client: KubeClient): Classes => informer({ client, of: ingressClasses, project: classState }),
    },
    params: {
      name: "ingressclassparams",
      make: (client: KubeClient): Params => informer({ client, of: ingressClassParams, project: paramsState }),
    },
    namespaces: {
      name: "namespaces",
      make: (client: KubeClient): Namespaces => informer({ client, of: namespaces, project: namespaceState }),
    },
  };
}

/** Where digests of the Secrets of log-ins are recorded that were sent: AWS never tells what it has. */
export const sentSecretsAnnotation = "ingress.fairlead.io/sent-secrets";

/** Where the first Ingress of a group has its checkpoint. */
export const checkpointAnnotation = "ingress.fairlead.io/checkpoint";

/** Where the first Ingress of a group has the attributes that the group has set, so that they can be reset. */
export const setAttributesAnnotation = "ingress.fairlead.io/set-attributes";

/** Where the reference, and with a gate this controller, writes what a group asks for. */
export const planAnnotation = "alb.ingress.kubernetes.io/dry-run-plan";

export const planDigest = (text: string) => (text === "" ? "" : createHash("sha256").update(text).digest("base64url").slice(0, 22));

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

function identityOf({ name, namespace = "", uid, resourceVersion }: Stored<KubeObject>["metadata"]): Identity {
  return { name, namespace, uid, resourceVersion };
}

export function ingressState({ metadata, spec = {}, status = {} }: Stored<Ingress>): IngressState {
  const { finalizers = [], deletionTimestamp, annotations = {} } = metadata;
  const {
    [lastApplied]: _applied,
    [sentSecretsAnnotation]: sent,
    [checkpointAnnotation]: checkpoint = "",
    [setAttributesAnnotation]: set = "",
    [planAnnotation]: plan = "",
    ...own
  } = annotations;
  const identity = identityOf(metadata);
  return {
    metadata: identity,
    sentSecrets: digestsIn(sent),
    checkpoint,
    setAttributes: set === "" ? [] : set.split(","),
    plan: planDigest(plan),
    view: {
      namespace: identity.namespace,
      name: identity.name,
      uid: identity.uid,
      annotations: own,
      finalizers,
      isDeleted: deletionTimestamp !== undefined,
      ...(spec.ingressClassName !== undefined && { className: spec.ingressClassName }),
      ...(spec.defaultBackend && { defaultBackend: backendView(spec.defaultBackend) }),
      rules: (spec.rules ?? []).flatMap(({ host = "", http }) =>
        http
          ? [{ host, paths: http.paths.map(({ path = "", pathType, backend }) => ({ path, pathType, backend: backendView(backend) })) }]
          : [],
      ),
      tlsHosts: (spec.tls ?? []).flatMap(({ hosts = [] }) => hosts),
    },
    published: (status.loadBalancer?.ingress ?? []).map(({ hostname = "", ip = "", ports = [] }) => ({
      hostname,
      ip,
      ports: ports.map(({ port }) => port),
    })),
  };
}

/** What somebody else has written there tells nothing. */
function digestsIn(text: string | undefined): Readonly<Record<string, string>> {
  const pairs = (text ?? "").split(",").map((pair) => pair.split("="));
  return Object.fromEntries(pairs.flatMap(([name = "", digest]) => (digest === undefined ? [] : [[name, digest] as const])));
}

function backendView({ service }: IngressBackend): BackendView {
  return service ? { service: { name: service.name, port: service.port?.name || (service.port?.number ?? 0) } } : {};
}

const defaultClass = "ingressclass.kubernetes.io/is-default-class";

export function classState({ metadata, spec = {} }: Stored<IngressClass>): ClassState {
  const { parameters } = spec;
  return {
    metadata: identityOf(metadata),
    view: {
      name: metadata.name,
      controller: spec.controller ?? "",
      isDefault: metadata.annotations?.[defaultClass] === "true",
      ...(parameters && {
        parameters: { ...(parameters.apiGroup && { apiGroup: parameters.apiGroup }), kind: parameters.kind, name: parameters.name },
      }),
    },
  };
}

export function paramsState({ metadata, spec = {} }: Stored<IngressClassParams>): ParamsState {
  const { PrefixListsIDs, ...rest } = spec;
  const prefixListsIDs = rest.prefixListsIDs ?? PrefixListsIDs;
  return { metadata: identityOf(metadata), view: { ...rest, name: metadata.name, ...(prefixListsIDs && { prefixListsIDs }) } };
}

const namespaceState = ({ metadata }: Stored<Namespace>): NamespaceState => ({
  metadata: identityOf(metadata),
  labels: metadata.labels ?? {},
});
