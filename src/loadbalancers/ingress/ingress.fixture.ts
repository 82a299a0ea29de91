/** Ingresses, Services and an account for tests of the door. */
import { Account } from "../application/account.fixture.ts";
import { planApplication, type SeenApplication } from "../application/plan.ts";
import type { ApplicationLoadBalancer } from "../model.ts";
import type { Network } from "../subnets.ts";
import { annotationPrefix } from "./annotations.ts";
import { desireGroup, type GroupDesire, type GroupSources, type MemberModel } from "./desire.ts";
import { type Group, groupOf, type Membership, membershipOf } from "./groups.ts";
import { partOf } from "./names.ts";
import { defaultSettings, type IngressSettings } from "./settings.ts";
import type { BackendView, ClassParams, IngressView, PathView, ServiceView } from "./view.ts";

export const settings: IngressSettings = { ...defaultSettings, cluster: "prod", vpc: "vpc-1", defaultTargetType: "ip" };

/** `web:80`, `web:http`, `ssl-redirect:use-annotation` */
export function backend(text: string): BackendView {
  const [name = "", port = ""] = text.split(":");
  return { service: { name, port: /^\d+$/.test(port) ? Number(port) : port } };
}

/** `Prefix /api web:80` */
export function path(text: string): PathView {
  const [pathType = "", at = "", to = ""] = text.split(" ");
  return { pathType, path: at === "-" ? "" : at, backend: backend(to) };
}

export interface IngressOptions {
  readonly annotations?: Readonly<Record<string, string>>;
  /** Paths by host; `*`: without a host. */
  readonly rules?: Readonly<Record<string, readonly string[]>>;
  readonly params?: ClassParams;
  readonly defaultBackend?: string;
  readonly tlsHosts?: readonly string[];
  readonly rest?: Partial<IngressView>;
}

export function ingress(
  key: string,
  { annotations = {}, rules = { "*": ["Prefix / web:80"] }, defaultBackend, tlsHosts = [], rest }: IngressOptions = {},
): IngressView {
  const [namespace = "", name = ""] = key.split("/");
  return {
    namespace,
    name,
    uid: `uid-${key}`,
    annotations: Object.fromEntries(
      Object.entries(annotations).map(([suffix, value]) => [suffix.includes("/") ? suffix : annotationPrefix + suffix, value]),
    ),
    finalizers: [],
    isDeleted: false,
    className: "alb",
    rules: Object.entries(rules).map(([host, paths]) => ({ host: host === "*" ? "" : host, paths: paths.map(path) })),
    tlsHosts,
    ...(defaultBackend && { defaultBackend: backend(defaultBackend) }),
    ...rest,
  };
}

export function service(key: string, given: Partial<ServiceView> = {}): ServiceView {
  const [namespace = "", name = ""] = key.split("/");
  return {
    namespace,
    name,
    uid: `uid-${key}`,
    annotations: {},
    type: "NodePort",
    ipFamilies: ["IPv4"],
    ports: [
      { name: "http", port: 80, targetPort: 8080, nodePort: 30080 },
      { name: "admin", port: 81, targetPort: "admin", nodePort: 30081 },
    ],
    ...given,
  };
}

const subnet = (id: string, zone: string) => ({
  id,
  zone,
  cidr: "10.0.0.0/24",
  ipv6Cidrs: ["fd00::/64"],
  tags: { "kubernetes.io/role/internal-elb": "1", "kubernetes.io/role/elb": "1" },
});
export const network: Network = { subnets: [subnet("subnet-a", "a"), subnet("subnet-b", "b")], routeTables: [], zoneTypes: {} };

/** A group of these, with every Service there is. */
export interface Bed {
  readonly account: Account;
  /** What Ingresses are asked of now. */
  sources(): GroupSources;
  readonly remembered: Map<string, MemberModel>;
  desire(...ingresses: readonly (IngressView | readonly [IngressView, ClassParams])[]): GroupDesire;
  /** Desires, and changes the account to that; the calls it took. */
  deploy(...ingresses: readonly (IngressView | readonly [IngressView, ClassParams])[]): readonly string[];
}

export function bed(given: Partial<GroupSources> & { readonly services?: readonly ServiceView[]; readonly forgets?: boolean } = {}): Bed {
  const account = new Account();
  const remembered = new Map<string, MemberModel>();
  const {
    services = ["shop/web", "shop/api", "a/web", "a/api", "b/ok", "b/web", "c/web"].map((key) => service(key)),
    forgets,
    ...rest
  } = given;
  const sources = (): GroupSources => ({
    settings,
    network,
    groups: [],
    certificates: [],
    requested: () => undefined,
    backendGroup: "sg-backend",
    isForeignTag: () => false,
    trustStore: () => undefined,
    service: (namespace, name) => services.find((each) => each.namespace === namespace && each.name === name),
    secret: (name, { namespace }) => ({ problem: `secret ${namespace}/${name} not found` }),
    webAcl: () => undefined,
    targetGroupArn: () => undefined,
    seen: withParts(account.seen()),
    ...rest,
  });
  const desire: Bed["desire"] = (...ingresses) => {
    const result = desireGroup(groupFrom(ingresses), account.seen().loadBalancer && "lb", remembered, sources());
    if (!forgets) for (const [key, model] of result.understood) remembered.set(key, model);
    return result;
  };
  const deploy: Bed["deploy"] = (...ingresses) => account.run(planOf(desire(...ingresses).model, account));
  return { account, remembered, sources, desire, deploy };
}

/** Without its security group: that is another part's test. */
const planOf = (model: ApplicationLoadBalancer, account: Account) =>
  planApplication(
    { ...model, securityGroups: { kind: "wanted", groups: [{ kind: "given", id: "sg-1" }] } },
    "vpc-1",
    withParts(account.seen()),
  );

/** The account's own tag for parts is not the door's. */
const withParts = (seen: SeenApplication): SeenApplication => ({
  ...seen,
  targetGroups: seen.targetGroups.map((group) => ({ ...group, part: partOf(group.tags ?? {}) })),
});

export function groupFrom(ingresses: readonly (IngressView | readonly [IngressView, ClassParams])[]): Group {
  const paramsOf = new Map(
    ingresses.map(
      (each) =>
        ("metadata" in each || !Array.isArray(each) ? [each as IngressView, undefined] : [each[0], each[1]]) as [
          IngressView,
          ClassParams | undefined,
        ],
    ),
  );
  const memberOf = (each: IngressView): Membership => {
    const params = paramsOf.get(each);
    return membershipOf(each, { kind: "ours", ...(params && { params }) });
  };
  const [first] = [...paramsOf.keys()];
  const membership = memberOf(first!);
  if (membership.kind !== "in") throw new Error(`the first Ingress is in no group: ${membership.kind}`);
  return groupOf(membership.group, [...paramsOf.keys()], memberOf);
}

/** The rules of a port in words: `1 host x path /api -> web`. */
export function rulesText({ model }: Pick<GroupDesire, "model">, port = 80): string[] {
  const listener = model.listeners.find((each) => each.port === port);
  const groups = new Map(model.targetGroups.map(({ name, part = "" }) => [name, part]));
  return (listener?.rules ?? []).map(({ priority, conditions, actions, keeps }) => {
    if (keeps !== undefined) return `${priority} keeps`;
    const when = conditions.map(
      (each) =>
        `${each.field} ${each.values.map((value) => (typeof value === "string" ? value : `${value.key}=${value.value}`)).join("|")}`,
    );
    const then = actions.map((action) => {
      if (action.kind === "forward")
        return action.to
          .map(({ group, arn, weight }) => `${group ? groups.get(group) : arn}${weight === undefined ? "" : `*${weight}`}`)
          .join("+");
      return action.kind === "fixed-response" ? `${action.status}${action.body ? ` ${action.body}` : ""}` : action.kind;
    });
    return `${priority} ${when.join(", ")} -> ${then.join(", ")}`;
  });
}
