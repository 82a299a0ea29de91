/** What the load balancer controller takes in the cluster: its definition, webhooks that answer, one that leads, and who waits in vain. */
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { type Finding, ok, problem, some, warning } from "./finding.ts";
import type { Picture } from "./picture.ts";

export interface BalancerFacts {
  /** Resources of `elbv2.k8s.aws/v1beta1` that the server knows. */
  readonly resources: readonly string[];
  /** Those of its webhooks that the API server asks; undefined where that may not be read. */
  readonly webhooks: readonly WebhookFacts[] | undefined;
  /** Namespaces, as `namespace/holder`, in which a load balancer controller holds its Lease at this moment. */
  readonly leaders: readonly string[];
  /** Namespaces whose pods are to get readiness gates. */
  readonly gatedNamespaces: readonly string[];
  /** Services of this controller's class, or handed over to it, that have no address. */
  readonly unserved: readonly string[];
  /** Services that are handed over without saying what is registered. */
  readonly unclear: readonly string[];
  /** Bindings whose condition Ready is False, with its reason. */
  readonly unready: readonly { readonly binding: string; readonly reason: string }[];
}

export interface WebhookFacts {
  readonly name: string;
  readonly failurePolicy: string;
  readonly isTrusted: boolean;
  /** `namespace/name`; undefined where it is reached by a URL. */
  readonly service?: string;
  /** Whether any pod is behind it. */
  readonly isServed: boolean;
}

const api = "elbv2.k8s.aws";
const leaseName = "aws-load-balancer-controller-leader";
const gateLabel = "elbv2.k8s.aws/pod-readiness-gate-inject";
const annotation = "service.beta.kubernetes.io/aws-load-balancer-";
/** The API keeps whole seconds, and a lease is renewed every two. */
const freshMs = 30_000;

interface Listed {
  readonly items?: readonly {
    readonly metadata: {
      readonly name: string;
      readonly namespace?: string;
      readonly annotations?: Readonly<Record<string, string>>;
    };
    readonly spec?: {
      readonly type?: string;
      readonly loadBalancerClass?: string;
      readonly holderIdentity?: string;
      readonly renewTime?: string;
    };
    readonly status?: {
      readonly loadBalancer?: { readonly ingress?: readonly unknown[] };
      readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
    };
    readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[] | null;
    readonly webhooks?: readonly {
      readonly name: string;
      readonly failurePolicy?: string;
      readonly clientConfig?: { readonly caBundle?: string; readonly service?: { readonly namespace: string; readonly name: string } };
    }[];
  }[];
}

type Item = NonNullable<Listed["items"]>[number];

export async function askBalancer(kube: KubeClient, ownClass: string, now: number, signal: AbortSignal): Promise<BalancerFacts> {
  const raw = async (path: string) =>
    kube.raw(path, { signal }).catch((error: unknown) => {
      if (isApiError(error, "not-found")) return "{}";
      throw error;
    });
  const list = async (path: string): Promise<readonly Item[]> => (JSON.parse(await raw(path)) as Listed).items ?? [];
  const configured = async (phase: string) => list(`/apis/admissionregistration.k8s.io/v1/${phase}webhookconfigurations`);
  const [known, bindings, configurations, leases, namespaces, services] = await Promise.all([
    raw(`/apis/${api}/v1beta1`),
    list(`/apis/${api}/v1beta1/targetgroupbindings`),
    // Few may read them: all else is told without.
    Promise.all([configured("mutating"), configured("validating")]).catch((error: unknown) => {
      if (isApiError(error)) return undefined;
      throw error;
    }),
    list(`/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.name%3D${leaseName}`),
    list(`/api/v1/namespaces?labelSelector=${encodeURIComponent(`${gateLabel}=enabled`)}`),
    list("/api/v1/services"),
  ]);
  const { resources = [] } = JSON.parse(known) as { readonly resources?: readonly { readonly name: string }[] };
  const asked = configurations?.flat().flatMap(({ webhooks = [] }) => webhooks.filter(({ name }) => name.endsWith(`.${api}`)));
  const webhooks = asked?.map(async ({ name, failurePolicy = "Fail", clientConfig: { caBundle = "", service } = {} }) => ({
    name,
    failurePolicy,
    isTrusted: caBundle !== "",
    ...(service && { service: `${service.namespace}/${service.name}` }),
    isServed: service === undefined || (await hasEndpoints(service, list)),
  }));
  const key = ({ metadata: { namespace, name } }: Item) => `${namespace}/${name}`;
  const own = services.filter((service) => isHandedOver(service, ownClass));
  return {
    resources: resources.map(({ name }) => name),
    webhooks: webhooks && (await Promise.all(webhooks)),
    leaders: leases
      .filter(
        ({ metadata, spec }) => metadata.name === leaseName && spec?.holderIdentity && now - Date.parse(spec.renewTime ?? "") < freshMs,
      )
      .map(({ metadata, spec }) => `${metadata.namespace}/${spec?.holderIdentity}`),
    gatedNamespaces: namespaces.map(({ metadata }) => metadata.name),
    unserved: own.filter((service) => !isUnclear(service) && !service.status?.loadBalancer?.ingress?.length).map(key),
    unclear: own.filter(isUnclear).map(key),
    unready: bindings.flatMap((binding) => {
      const ready = binding.status?.conditions?.find(({ type }) => type === "Ready");
      return ready?.status === "False" ? [{ binding: key(binding), reason: ready.reason ?? "" }] : [];
    }),
  };
}

async function hasEndpoints(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  list: (path: string) => Promise<readonly Item[]>,
): Promise<boolean> {
  const selector = encodeURIComponent(`kubernetes.io/service-name=${name}`);
  const slices = await list(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=${selector}`);
  return slices.some(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready !== false));
}

const asks = ({ metadata }: Item, name: string) => metadata.annotations?.[`${annotation}${name}`];

function isHandedOver(service: Item, ownClass: string): boolean {
  const { type, loadBalancerClass } = service.spec ?? {};
  if (type !== "LoadBalancer") return false;
  return loadBalancerClass === undefined ? ["external", "nlb-ip"].includes(asks(service, "type") ?? "") : loadBalancerClass === ownClass;
}

const isUnclear = (service: Item) =>
  service.spec?.loadBalancerClass === undefined &&
  asks(service, "type") === "external" &&
  !["ip", "instance"].includes(asks(service, "nlb-target-type") ?? "");

const check = "load balancer controller";
const install = "helm upgrade fairlead deploy/chart --namespace kube-system --reuse-values --set loadBalancerController.enabled=true";
const page = "# docs/load-balancer-controller.md";

/** Asked only with `--features=target-group-bindings` or `class-services`. */
export function checkBalancer({ balancer }: Picture): readonly Finding[] {
  if (balancer === undefined) return [];
  if (!balancer.known) return [warning(check, balancer.why, "kubectl get targetgroupbindings -A")];
  const facts = balancer.value;
  const isDefined = facts.resources.includes("targetgroupbindings");
  const isWanted = facts.unserved.length + (facts.webhooks ?? []).length + facts.leaders.length > 0;
  // Nothing of it is installed, and nobody asks for it.
  if (!isDefined && !isWanted) return [];
  return [
    ...(isDefined ? [] : [problem(check, `the API server does not know targetgroupbindings of ${api}`, `${install}   ${page}`)]),
    ...leadership(facts),
    ...(facts.webhooks ?? []).flatMap(webhookFindings),
    ...gates(facts),
    ...(facts.unclear.length > 0
      ? [
          warning(
            check,
            `nobody serves ${some(facts.unclear)}: with ${annotation}type: external, ${annotation}nlb-target-type must be ip or instance`,
            `kubectl annotate service -n ${facts.unclear[0]?.replace("/", " ")} ${annotation}nlb-target-type=ip`,
          ),
        ]
      : []),
    ...facts.unready
      .slice(0, 5)
      .map(({ binding, reason }) =>
        warning(check, `TargetGroupBinding ${binding} is not ready: ${reason}`, `fairlead explain targetgroupbinding/${binding}`),
      ),
  ];
}

function leadership({ leaders, unserved }: BalancerFacts): readonly Finding[] {
  if (leaders.length > 1) {
    return [
      problem(
        check,
        `several lead at once, each in a namespace of its own, and work against each other: ${some(leaders)}`,
        `# remove all but one, or give them the same --leader-election-namespace; ${page.slice(2)}`,
      ),
    ];
  }
  if (leaders.length === 1) return [ok(check, `${leaders[0]} leads`)];
  if (unserved.length === 0) return [];
  return [
    problem(
      check,
      `nobody holds the Lease ${leaseName}, and these Services wait for an address: ${some(unserved)}`,
      `${install}   ${page}`,
    ),
  ];
}

function webhookFindings({ name, failurePolicy, isTrusted, isServed, service }: WebhookFacts): readonly Finding[] {
  const blocks = failurePolicy === "Fail";
  const say = (what: string, remedy: string) => [(blocks ? problem : warning)(check, what, remedy)];
  const follows = blocks ? "every object that it is asked about is refused" : "objects pass without it";
  if (!isServed)
    return say(
      `webhook ${name} has no pod behind Service ${service}: ${follows}`,
      `kubectl get endpointslices -n ${service?.replace(/\/.*/, "")}`,
    );
  if (!isTrusted)
    return say(
      `the API server trusts no certificate of webhook ${name}: its caBundle is empty, and ${follows}`,
      "# start the controller with --webhook-secret and --webhook-configuration: it publishes its own authority",
    );
  return [];
}

function gates({ gatedNamespaces, webhooks }: BalancerFacts): readonly Finding[] {
  if (gatedNamespaces.length === 0 || webhooks === undefined || webhooks.some(({ name }) => name === `mpod.${api}`)) return [];
  const what = `namespaces ${some(gatedNamespaces)} are labelled ${gateLabel}=enabled, but no webhook gives their pods readiness gates`;
  return [warning(check, what, `${install} --set loadBalancerController.webhooks.enabled=true`)];
}
