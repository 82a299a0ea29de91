/** From objects of the API to what is read of them: what the server leaves out is filled in, so that nobody else asks for it. */
import type { KubeObject, Stored } from "../../kube/resource.ts";
import type {
  ApiFilter,
  ApiGateway,
  ApiGatewayClass,
  ApiListener,
  ApiListenerSet,
  ApiMatch,
  ApiParentRef,
  ApiReferenceGrant,
  ApiRoute,
} from "./api.ts";
import { gatewayGroup } from "./grants.ts";
import type { GatewayStatus, ListenerStatus } from "./status.ts";
import type {
  AllowedNamespaces,
  ClassView,
  Condition,
  GatewayView,
  GrantView,
  Identity,
  ListenerSetView,
  ListenerView,
  ParentRef,
  ParentStatus,
  PathChange,
  RouteFilter,
  RouteKind,
  RouteMatch,
  RouteView,
} from "./view.ts";

interface Meta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** An object as an informer keeps it. */
export interface State<View> {
  readonly metadata: Meta;
  readonly view: View;
}

export interface GatewayState extends State<GatewayView> {
  readonly status: GatewayStatus;
  /** What its load balancer was when all of it was as wanted; empty: nobody knows. */
  readonly checkpoint: string;
  /** Digests of the Secrets that were sent to AWS for it, by `namespace/configuration/secret`. */
  readonly sentSecrets: Readonly<Record<string, string>>;
  /** The plan of a dry run that is written on it; empty: none is. */
  readonly plan: string;
}

/** Where a Gateway has its checkpoint. */
export const checkpointAnnotation = "gateway.fairlead.io/checkpoint";
/** Where digests of the Secrets of log-ins are recorded that were sent: AWS never tells what it has. */
export const sentSecretsAnnotation = "gateway.fairlead.io/sent-secrets";
/** Where a dry run writes what a Gateway asks for. */
export const planAnnotation = "gateway.k8s.aws/dry-run-plan";

export interface ClassState extends State<ClassView> {
  readonly features: readonly string[];
}

export interface ListenerSetState extends State<ListenerSetView> {
  readonly conditions: readonly Condition[];
  readonly listeners: readonly ListenerStatus[];
}

export interface RouteState extends State<RouteView> {
  readonly parents: readonly ParentStatus[];
}

const metaOf = ({ name, namespace = "", uid, resourceVersion }: Stored<KubeObject>["metadata"]): Meta => ({
  name,
  namespace,
  uid,
  resourceVersion,
});

const identityOf = ({ name, namespace = "", uid, generation = 0, creationTimestamp = "" }: Stored<KubeObject>["metadata"]): Identity => ({
  name,
  namespace,
  uid,
  generation,
  createdAt: String(creationTimestamp),
});

export function gatewayState({ metadata, spec = {}, status = {} }: Stored<ApiGateway>): GatewayState {
  const { infrastructure = {} } = spec;
  const {
    "kubectl.kubernetes.io/last-applied-configuration": _applied,
    [checkpointAnnotation]: checkpoint = "",
    [sentSecretsAnnotation]: sent = "",
    [planAnnotation]: plan = "",
    ...annotations
  } = metadata.annotations ?? {};
  return {
    metadata: metaOf(metadata),
    checkpoint,
    sentSecrets: pairsIn(sent),
    plan,
    view: {
      ...identityOf(metadata),
      className: spec.gatewayClassName ?? "",
      annotations,
      finalizers: metadata.finalizers ?? [],
      isDeleted: metadata.deletionTimestamp !== undefined,
      listeners: (spec.listeners ?? []).map(listenerView),
      allowedListeners: namespacesOf(spec.allowedListeners?.namespaces, "None"),
      ...(infrastructure.parametersRef && { parametersRef: infrastructure.parametersRef }),
      infrastructure: { labels: infrastructure.labels ?? {}, annotations: infrastructure.annotations ?? {} },
    },
    status: {
      addresses: (status.addresses ?? []).map(({ type = "IPAddress", value = "" }) => ({ type, value })),
      ...(status.attachedListenerSets !== undefined && { attachedListenerSets: status.attachedListenerSets }),
      conditions: status.conditions ?? [],
      listeners: status.listeners ?? [],
    },
  };
}

/** What somebody else has written there tells nothing. */
function pairsIn(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(",").map((pair) => pair.split("="));
  return Object.fromEntries(pairs.flatMap(([name = "", value]) => (value === undefined ? [] : [[name, value] as const])));
}

export function classState({ metadata, spec = {}, status = {} }: Stored<ApiGatewayClass>): ClassState {
  return {
    metadata: metaOf(metadata),
    view: {
      name: metadata.name,
      generation: metadata.generation ?? 0,
      controllerName: spec.controllerName ?? "",
      annotations: metadata.annotations ?? {},
      finalizers: metadata.finalizers ?? [],
      isDeleted: metadata.deletionTimestamp !== undefined,
      ...(spec.parametersRef && { parametersRef: spec.parametersRef }),
      conditions: status.conditions ?? [],
    },
    features: (status.supportedFeatures ?? []).map(({ name }) => name),
  };
}

export function listenerSetState({ metadata, spec = {}, status = {} }: Stored<ApiListenerSet>): ListenerSetState {
  const { kind = "Gateway", namespace = metadata.namespace ?? "", name = "" } = spec.parentRef ?? { name: "" };
  return {
    metadata: metaOf(metadata),
    view: {
      ...identityOf(metadata),
      isDeleted: metadata.deletionTimestamp !== undefined,
      parent: { kind, namespace, name },
      listeners: (spec.listeners ?? []).map(listenerView),
    },
    conditions: status.conditions ?? [],
    listeners: status.listeners ?? [],
  };
}

function listenerView({ name, port, protocol, hostname = "", tls, allowedRoutes }: ApiListener): ListenerView {
  return {
    name,
    port,
    protocol,
    hostname,
    namespaces: namespacesOf(allowedRoutes?.namespaces, "Same"),
    kinds: (allowedRoutes?.kinds ?? []).map(({ kind }) => kind),
    isPassthrough: tls?.mode === "Passthrough",
  };
}

const namespacesOf = (given: Partial<AllowedNamespaces> | undefined, otherwise: string): AllowedNamespaces => ({
  from: given?.from ?? otherwise,
  ...(given?.selector && { selector: given.selector }),
});

export function routeState(kind: RouteKind, { metadata, spec = {}, status = {} }: Stored<ApiRoute>): RouteState {
  return {
    metadata: metaOf(metadata),
    view: {
      ...identityOf(metadata),
      kind,
      isDeleted: metadata.deletionTimestamp !== undefined,
      hostnames: spec.hostnames ?? [],
      parentRefs: (spec.parentRefs ?? []).map(parentRefOf),
      rules: (spec.rules ?? []).map(({ matches = [], filters = [], backendRefs = [] }) => ({
        matches: matches.flatMap((match) => matchOf(kind, match) ?? []),
        filters: filters.map(filterOf),
        backends: backendRefs.map(({ group = "", kind: of = "Service", namespace = "", name, port, weight = 1 }) => ({
          group,
          kind: of,
          namespace,
          name,
          ...(port !== undefined && { port }),
          weight,
        })),
      })),
    },
    parents: (status.parents ?? []).map(({ parentRef, controllerName, conditions = [] }) => ({
      parentRef: parentRefOf(parentRef),
      controllerName,
      conditions,
    })),
  };
}

function parentRefOf({
  group = gatewayGroup,
  kind = "Gateway",
  namespace = "",
  name,
  sectionName = "",
  port = 0,
}: ApiParentRef): ParentRef {
  return { group, kind, namespace, name, sectionName, port };
}

function matchOf(kind: RouteKind, { path, headers = [], queryParams = [], method }: ApiMatch): RouteMatch | undefined {
  const valued = headers.map(exactly);
  if (kind === "GRPCRoute") {
    const { type = "Exact", service = "", method: called = "" } = typeof method === "object" ? method : {};
    return { of: "grpc", ...(typeof method === "object" && { call: { type, service, method: called } }), headers: valued };
  }
  if (kind !== "HTTPRoute") return undefined;
  return {
    of: "http",
    // As the server fills it in.
    path: { type: path?.type ?? "PathPrefix", value: path?.value ?? "/" },
    headers: valued,
    queries: queryParams.map(exactly),
    method: typeof method === "string" ? method : "",
  };
}

const exactly = <T extends { readonly type?: string }>(match: T) => ({ ...match, type: match.type ?? "Exact" });

function filterOf({ type, requestRedirect, urlRewrite, extensionRef }: ApiFilter): RouteFilter {
  if (type === "RequestRedirect" && requestRedirect) {
    const { path, statusCode = 302, ...rest } = requestRedirect;
    const change = pathOf(path);
    return { type, ...rest, ...(change && { path: change }), statusCode };
  }
  if (type === "URLRewrite" && urlRewrite) {
    const { path, ...rest } = urlRewrite;
    const change = pathOf(path);
    return { type, ...rest, ...(change && { path: change }) };
  }
  if (type === "ExtensionRef" && extensionRef) return { type, ...extensionRef };
  return { type: "unsupported", what: type };
}

function pathOf(path: NonNullable<ApiFilter["urlRewrite"]>["path"]): PathChange | undefined {
  if (path?.replaceFullPath !== undefined) return { type: "ReplaceFullPath", value: path.replaceFullPath };
  return path?.replacePrefixMatch === undefined ? undefined : { type: "ReplacePrefixMatch", value: path.replacePrefixMatch };
}

export function grantState({ metadata, spec = {} }: Stored<ApiReferenceGrant>): State<GrantView> {
  const { name, namespace = "" } = metadata;
  return { metadata: metaOf(metadata), view: { name, namespace, from: spec.from ?? [], to: spec.to ?? [] } };
}

/** An object whose spec is read as it is written. */
export interface ConfigurationState<Spec>
  extends State<{ readonly finalizers: readonly string[]; readonly isDeleted: boolean; readonly spec: Spec }> {
  readonly generation: number;
  readonly accepted?: boolean;
  readonly message?: string;
  readonly observedGeneration?: number;
}

export function configurationState<Spec extends object>({
  metadata,
  spec,
  status,
}: Stored<
  KubeObject & {
    readonly spec?: Spec;
    readonly status?: { readonly accepted?: boolean; readonly message?: string; readonly observedGeneration?: number };
  }
>): ConfigurationState<Spec> {
  return {
    metadata: metaOf(metadata),
    view: { finalizers: metadata.finalizers ?? [], isDeleted: metadata.deletionTimestamp !== undefined, spec: (spec ?? {}) as Spec },
    generation: metadata.generation ?? 0,
    ...(status?.accepted !== undefined && { accepted: status.accepted }),
    ...(status?.message !== undefined && { message: status.message }),
    ...(status?.observedGeneration !== undefined && { observedGeneration: status.observedGeneration }),
  };
}
