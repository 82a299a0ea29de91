/** From an Ingress, or a group of them, to the Gateway that gives the same: the objects to apply, and what they lack. Pure. */
import { type Group, stackOf } from "../../loadbalancers/ingress/groups.ts";
import { type CanonicalContext, canonical, differences } from "./canonical.ts";
import { checkTranslation } from "./check.ts";
import { loadBalancerSettings } from "./load-balancer.ts";
import { httpRoutes, sectionOf } from "./routes.ts";
import { targetGroupConfigurations } from "./target-groups.ts";
import { given, type Lose, type Manifest, membersOf, type Pin, type TranslationInput } from "./translation.ts";

export interface Translation {
  readonly objects: readonly Manifest[];
  /** What the Gateway does not do as the Ingress does, with whose it is. */
  readonly lost: readonly string[];
  /** What is worth knowing, and changes nothing. */
  readonly notes: readonly string[];
}

export interface TranslateOptions extends Omit<TranslationInput, "pins"> {
  /** Whether the Gateway is only planned until its annotation is removed. */
  readonly dryRun?: boolean;
}

/** What a Gateway would choose otherwise is written down: it is translated twice then. */
export function translate(options: TranslateOptions): Translation {
  const first = attempt(options, new Set());
  const pins = pinnable.filter((pin) => first.found.some((difference) => new RegExp(`(^|/)${pin}(/|:)`).test(difference)));
  const { found, lost, ...rest } = pins.length > 0 ? attempt(options, new Set(pins)) : first;
  const unexplained = found.map((difference) => `the Gateway would differ: ${difference} (Ingress | Gateway)`);
  const faults = [...options.desire.faults].flatMap(([key, messages]) =>
    messages.map((message) => `Ingress ${key} is left out: ${message}`),
  );
  return { ...rest, lost: [...faults, ...lost, ...unexplained] };
}

const pinnable: readonly Pin[] = ["subnets", "certificates"];

function attempt({ dryRun, ...options }: TranslateOptions, pins: ReadonlySet<Pin>): Translation & { readonly found: readonly string[] } {
  const input: TranslationInput = { ...options, pins };
  const { group, desire, sources } = input;
  const lost = new Set<string>();
  const explained = new Set<string>();
  const lose: Lose = (ingress, message, explains) => {
    lost.add(`Ingress ${ingress}: ${message}`);
    if (explains !== undefined) explained.add(explains);
  };
  loseMissingServices(input, lose);
  const gateway = gatewayName(group);
  const spec = loadBalancerSettings(input, lose);
  const routes = httpRoutes(gateway, input, lose);
  const objects: readonly Manifest[] = [
    {
      apiVersion: "gateway.k8s.aws/v1",
      kind: "LoadBalancerConfiguration",
      metadata: gateway,
      spec,
    },
    gatewayManifest(gateway, input, dryRun ?? false),
    ...targetGroupConfigurations(routes.uses, input, lose),
    ...routes.manifests,
  ];
  const context: CanonicalContext = {
    defaultTags: sources.settings.defaultTags,
    portNumber: ({ namespace, name }, port) =>
      typeof port === "number" ? port : sources.service(namespace, name)?.ports.find((each) => each.name === port)?.port,
  };
  const checked = checkTranslation(objects, input);
  const all = checked.problems.length > 0 ? checked.problems : differences(canonical(desire, context), canonical(checked, context));
  // What is lost is told with its annotation; a difference only where nothing else explains it.
  const found = all.filter((difference) => ![...explained].some((path) => difference.startsWith(path)));
  return { objects, lost: [...lost], notes: notesOf(input), found };
}

/** Named as the Ingress; a group has its Gateway where its first Ingress is. */
function gatewayName({ id, members }: Group): { readonly name: string; readonly namespace: string } {
  const { namespace, name } = members[0]!.ingress;
  return id.kind === "explicit" ? { name: id.name, namespace } : { name, namespace };
}

function gatewayManifest(
  gateway: { readonly name: string; readonly namespace: string },
  input: TranslationInput,
  dryRun: boolean,
): Manifest {
  const { group, desire, className } = input;
  const namespaces = [...new Set(group.members.map(({ ingress }) => ingress.namespace))];
  const selector = { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: namespaces }] };
  const from = `ingress${group.id.kind === "explicit" ? "-group" : ""}/${stackOf(group.id)}`;
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: {
      ...gateway,
      annotations: { "gateway.k8s.aws/migrated-from": from, ...(dryRun && { "gateway.k8s.aws/dry-run": "true" }) },
    },
    spec: {
      gatewayClassName: className,
      infrastructure: { parametersRef: { group: "gateway.k8s.aws", kind: "LoadBalancerConfiguration", name: gateway.name } },
      listeners: desire.model.listeners.map((listener) =>
        given({
          name: sectionOf(listener),
          protocol: listener.protocol,
          port: listener.port,
          allowedRoutes: namespaces.length > 1 ? { namespaces: { from: "Selector", selector } } : undefined,
        }),
      ),
    },
  };
}

/** What answers for them is right now, and wrong when they come. */
function loseMissingServices(input: TranslationInput, lose: Lose): void {
  for (const { key, member } of membersOf(input)) {
    const { namespace, rules, defaultBackend } = member.ingress;
    const backends = [...rules.flatMap(({ paths }) => paths.map(({ backend }) => backend)), ...(defaultBackend ? [defaultBackend] : [])];
    const named = backends.flatMap(({ service }) => (service && service.port !== "use-annotation" ? [service] : []));
    for (const { name, port } of named)
      if (input.sources.service(namespace, name) === undefined)
        lose(
          key,
          `Service ${namespace}/${name} does not exist: the Ingress answers 503 for it, and so does the route, also when it is there: create it, or write a backendRef with port ${port} then`,
        );
  }
}

function notesOf(input: TranslationInput): readonly string[] {
  const named = membersOf(input).flatMap(({ key, member, values }) => {
    const name = member.params?.loadBalancerName || values["load-balancer-name"];
    return name ? [`Ingress ${key}: the load balancer's name ${name} is left out: AWS has one of a name while the Ingress's stands`] : [];
  });
  return named;
}
