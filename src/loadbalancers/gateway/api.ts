/** The objects of the Gateway API and of its configuration, as the server has them: as much of them as is read here. */
import { type KubeObject, resource } from "../../kube/resource.ts";
import type { LabelSelector } from "../targets/binding.ts";
import type { ListenerRuleSettings, LoadBalancerSettings, TargetGroupConfiguration } from "./config.ts";
import { gatewayGroup } from "./grants.ts";
import type { ListenerStatus } from "./status.ts";
import type { Condition } from "./view.ts";

interface ApiNamespaces {
  readonly from?: string;
  readonly selector?: LabelSelector;
}

export interface ApiListener {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
  readonly hostname?: string;
  readonly tls?: { readonly mode?: string };
  readonly allowedRoutes?: { readonly namespaces?: ApiNamespaces; readonly kinds?: readonly { readonly kind: string }[] };
}

export interface ApiParametersRef {
  readonly group: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

export interface ApiGateway extends KubeObject {
  readonly spec?: {
    readonly gatewayClassName?: string;
    readonly listeners?: readonly ApiListener[];
    readonly allowedListeners?: { readonly namespaces?: ApiNamespaces };
    readonly infrastructure?: {
      readonly labels?: Readonly<Record<string, string>>;
      readonly annotations?: Readonly<Record<string, string>>;
      readonly parametersRef?: ApiParametersRef;
    };
  };
  readonly status?: {
    readonly addresses?: readonly { readonly type?: string; readonly value?: string }[];
    readonly attachedListenerSets?: number;
    readonly conditions?: readonly Condition[];
    readonly listeners?: readonly ListenerStatus[];
  };
}

export interface ApiGatewayClass extends KubeObject {
  readonly spec?: { readonly controllerName?: string; readonly parametersRef?: ApiParametersRef };
  readonly status?: { readonly conditions?: readonly Condition[]; readonly supportedFeatures?: readonly { readonly name: string }[] };
}

export interface ApiListenerSet extends KubeObject {
  readonly spec?: {
    readonly parentRef?: { readonly kind?: string; readonly namespace?: string; readonly name: string };
    readonly listeners?: readonly ApiListener[];
  };
  readonly status?: { readonly conditions?: readonly Condition[]; readonly listeners?: readonly ListenerStatus[] };
}

export interface ApiParentRef {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

interface ApiValueMatch {
  readonly type?: string;
  readonly name: string;
  readonly value: string;
}

export interface ApiMatch {
  readonly path?: { readonly type?: string; readonly value?: string };
  readonly headers?: readonly ApiValueMatch[];
  readonly queryParams?: readonly ApiValueMatch[];
  /** A verb of HTTP, or a call of gRPC. */
  readonly method?: string | { readonly type?: string; readonly service?: string; readonly method?: string };
}

interface ApiPath {
  readonly type?: string;
  readonly replaceFullPath?: string;
  readonly replacePrefixMatch?: string;
}

export interface ApiFilter {
  readonly type: string;
  readonly requestRedirect?: {
    readonly scheme?: string;
    readonly hostname?: string;
    readonly port?: number;
    readonly path?: ApiPath;
    readonly statusCode?: number;
  };
  readonly urlRewrite?: { readonly hostname?: string; readonly path?: ApiPath };
  readonly extensionRef?: { readonly group: string; readonly kind: string; readonly name: string };
}

export interface ApiRoute extends KubeObject {
  readonly spec?: {
    readonly parentRefs?: readonly ApiParentRef[];
    readonly hostnames?: readonly string[];
    readonly rules?: readonly {
      readonly matches?: readonly ApiMatch[];
      readonly filters?: readonly ApiFilter[];
      readonly backendRefs?: readonly {
        readonly group?: string;
        readonly kind?: string;
        readonly namespace?: string;
        readonly name: string;
        readonly port?: number;
        readonly weight?: number;
      }[];
    }[];
  };
  readonly status?: {
    readonly parents?: readonly {
      readonly parentRef: ApiParentRef;
      readonly controllerName: string;
      readonly conditions?: readonly Condition[];
    }[];
  };
}

export interface ApiReferenceGrant extends KubeObject {
  readonly spec?: {
    readonly from?: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[];
    readonly to?: readonly { readonly group: string; readonly kind: string; readonly name?: string }[];
  };
}

const v1 = { group: gatewayGroup, version: "v1", namespaced: true } as const;

export const gateways = resource<ApiGateway>({ ...v1, plural: "gateways", kind: "Gateway" });
export const gatewayClasses = resource<ApiGatewayClass>({ ...v1, plural: "gatewayclasses", kind: "GatewayClass", namespaced: false });
export const listenerSets = resource<ApiListenerSet>({ ...v1, plural: "listenersets", kind: "ListenerSet" });
export const referenceGrants = resource<ApiReferenceGrant>({
  ...v1,
  version: "v1beta1",
  plural: "referencegrants",
  kind: "ReferenceGrant",
});
export const routes = {
  HTTPRoute: resource<ApiRoute>({ ...v1, plural: "httproutes", kind: "HTTPRoute" }),
  GRPCRoute: resource<ApiRoute>({ ...v1, plural: "grpcroutes", kind: "GRPCRoute" }),
  TLSRoute: resource<ApiRoute>({ ...v1, plural: "tlsroutes", kind: "TLSRoute" }),
  TCPRoute: resource<ApiRoute>({ ...v1, plural: "tcproutes", kind: "TCPRoute" }),
  UDPRoute: resource<ApiRoute>({ ...v1, plural: "udproutes", kind: "UDPRoute" }),
} as const;

const aws = { group: "gateway.k8s.aws", version: "v1", namespaced: true } as const;

export const loadBalancerConfigurations = resource<KubeObject & { readonly spec?: LoadBalancerSettings }>({
  ...aws,
  plural: "loadbalancerconfigurations",
  kind: "LoadBalancerConfiguration",
});
export const targetGroupConfigurations = resource<KubeObject & { readonly spec?: TargetGroupConfiguration }>({
  ...aws,
  plural: "targetgroupconfigurations",
  kind: "TargetGroupConfiguration",
});
export const listenerRuleConfigurations = resource<
  KubeObject & { readonly spec?: ListenerRuleSettings; readonly status?: { readonly accepted?: boolean; readonly message?: string } }
>({ ...aws, plural: "listenerruleconfigurations", kind: "ListenerRuleConfiguration" });
