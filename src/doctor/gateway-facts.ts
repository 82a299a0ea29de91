/** What objects of the Gateway API say, as far as the doctor asks. Pure. */

/** Kinds of Gateways by the controller that serves them, with the routes that each takes. */
export const flavours = {
  "gateway.k8s.aws/alb": ["HTTPRoute", "GRPCRoute"],
  "gateway.k8s.aws/nlb": ["TCPRoute", "UDPRoute", "TLSRoute"],
} as const;

export type ControllerName = keyof typeof flavours;

export const gatewayGroup = "gateway.networking.k8s.io";
export const configurationGroup = "gateway.k8s.aws";
export interface ClassFacts {
  readonly name: string;
  readonly controller: string;
  /** `True`, `False`, or that nobody has said anything yet. */
  readonly accepted: string;
  readonly message: string;
}

export interface GatewayState {
  /** `namespace/name` */
  readonly key: string;
  readonly className: string;
  readonly accepted: string;
  readonly programmed: string;
  readonly message: string;
  /** Whether one of its ports needs a certificate that nobody names. */
  readonly discovers: boolean;
}

export interface GatewayFacts {
  /** `Gateway.gateway.networking.k8s.io/v1` */
  readonly kinds: ReadonlySet<string>;
  /** Versions and channels of the definitions, `v1.6.1 standard`; undefined where they may not be read. */
  readonly bundles: readonly string[] | undefined;
  readonly classes: readonly ClassFacts[];
  readonly gateways: readonly GatewayState[];
  /** Routes that lead to another namespace without a grant, `HTTPRoute shop/web`. */
  readonly ungranted: readonly string[];
  /** Routes that name one of our Gateways and were told nothing. */
  readonly untold: readonly string[];
  /** Whether a configuration asks for a web ACL, or for Shield. */
  readonly asksFor: { readonly webAcl: boolean; readonly shield: boolean };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

interface ParentRef {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
}

export interface Item {
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly group?: string;
    readonly controllerName?: string;
    readonly gatewayClassName?: string;
    readonly listeners?: readonly { readonly port: number; readonly protocol: string; readonly tls?: { readonly mode?: string } }[];
    readonly parentRefs?: readonly ParentRef[];
    readonly wafV2?: { readonly webACL?: string };
    readonly shieldConfiguration?: { readonly enabled?: boolean };
    readonly listenerConfigurations?: readonly {
      readonly protocolPort: string;
      readonly defaultCertificate?: string;
      readonly certificates?: readonly string[];
    }[];
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly parents?: readonly {
      readonly controllerName: string;
      readonly parentRef: ParentRef;
      readonly conditions?: readonly Condition[];
    }[];
  };
}

export interface Listed {
  readonly items?: readonly Item[];
}

export interface GatewayObjects {
  readonly kinds: readonly string[];
  readonly definitions: readonly Item[] | undefined;
  readonly classes: readonly Item[];
  readonly gateways: readonly Item[];
  readonly routes: readonly Item[];
  readonly configurations: readonly Item[];
}

export function gatewayFacts({ kinds, definitions, classes, gateways, routes, configurations }: GatewayObjects): GatewayFacts {
  const own = new Set(
    classes.filter(({ spec }) => Object.hasOwn(flavours, spec?.controllerName ?? "")).map(({ metadata }) => metadata.name),
  );
  const ownGateways = new Set(gateways.filter(({ spec }) => own.has(spec?.gatewayClassName ?? "")).map(keyOf));
  return {
    kinds: new Set(kinds),
    bundles: definitions && bundlesOf(definitions),
    classes: classes.map(({ metadata, spec, status }) => {
      const accepted = conditionOf(status?.conditions, "Accepted");
      return {
        name: metadata.name,
        controller: spec?.controllerName ?? "",
        accepted: accepted?.status ?? "Unknown",
        message: accepted?.message ?? "",
      };
    }),
    gateways: gateways.map((gateway) => stateOf(gateway, configurations)),
    ungranted: routes.filter(isUngranted).map(titleOf),
    untold: routes.filter((route) => isUntold(route, ownGateways)).map(titleOf),
    asksFor: {
      webAcl: configurations.some(({ spec }) => Boolean(spec?.wafV2?.webACL)),
      shield: configurations.some(({ spec }) => spec?.shieldConfiguration?.enabled === true),
    },
  };
}

const keyOf = ({ metadata: { namespace, name } }: Item) => `${namespace}/${name}`;
const titleOf = (route: Item) => `${route.kind ?? "route"} ${keyOf(route)}`;
const conditionOf = (conditions: readonly Condition[] | undefined, type: string) => conditions?.find((each) => each.type === type);

function bundlesOf(definitions: readonly Item[]): readonly string[] {
  const of = definitions.filter(({ spec }) => spec?.group === gatewayGroup);
  const texts = of.map(({ metadata: { annotations = {} } }) =>
    [annotations[`${gatewayGroup}/bundle-version`] ?? "of no version", annotations[`${gatewayGroup}/channel`] ?? ""].join(" ").trim(),
  );
  return [...new Set(texts)].toSorted();
}

function stateOf(gateway: Item, configurations: readonly Item[]): GatewayState {
  const { conditions } = gateway.status ?? {};
  const accepted = conditionOf(conditions, "Accepted");
  const programmed = conditionOf(conditions, "Programmed");
  const named = new Set(
    configurations.flatMap(({ spec }) =>
      (spec?.listenerConfigurations ?? []).flatMap(({ protocolPort, defaultCertificate, certificates = [] }) =>
        defaultCertificate || certificates.length > 0 ? [protocolPort.toUpperCase()] : [],
      ),
    ),
  );
  const needsCertificate = ({ protocol, tls }: { readonly protocol: string; readonly tls?: { readonly mode?: string } }) =>
    protocol === "HTTPS" || (protocol === "TLS" && tls?.mode !== "Passthrough");
  return {
    key: keyOf(gateway),
    className: gateway.spec?.gatewayClassName ?? "",
    accepted: accepted?.status ?? "Unknown",
    programmed: programmed?.status ?? "Unknown",
    message: (accepted?.status === "False" ? accepted.message : programmed?.message) ?? "",
    discovers: (gateway.spec?.listeners ?? []).some((each) => needsCertificate(each) && !named.has(`${each.protocol}:${each.port}`)),
  };
}

const isOurs = (controllerName: string) => controllerName.startsWith(`${configurationGroup}/`);

const isUngranted = ({ status }: Item) =>
  (status?.parents ?? []).some(
    ({ controllerName, conditions }) => isOurs(controllerName) && conditionOf(conditions, "ResolvedRefs")?.reason === "RefNotPermitted",
  );

/** It names one of our Gateways itself; whether one of a ListenerSet is meant is not looked into. */
function isUntold({ metadata, spec, status }: Item, gateways: ReadonlySet<string>): boolean {
  const names = (spec?.parentRefs ?? []).filter(({ kind = "Gateway" }) => kind === "Gateway");
  const isNamed = ({ namespace = metadata.namespace, name }: ParentRef) => gateways.has(`${namespace}/${name}`);
  return names.some(isNamed) && !(status?.parents ?? []).some(({ controllerName }) => isOurs(controllerName));
}
