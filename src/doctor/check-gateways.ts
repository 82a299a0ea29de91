/** Whether Gateways can be served, and which are not. */
import { type Finding, ok, problem, some, warning } from "./finding.ts";
import { type ControllerName, configurationGroup, flavours, type GatewayFacts, gatewayGroup } from "./gateway-facts.ts";
import { type Picture, valueIn } from "./picture.ts";
import { policyRemedy } from "./subject.ts";

const check = "gateways";
const definitions =
  "kubectl apply --server-side -f https://github.com/kubernetes-sigs/gateway-api/releases/download/v1.6.1/standard-install.yaml   # docs/gateways.md";
const upgrade = "helm upgrade fairlead deploy/chart --namespace kube-system --reuse-values --set loadBalancerController.enabled=true";
const install = `${upgrade},loadBalancerController.gateways.enabled=true   # docs/gateways.md`;
const makeClasses = `${upgrade},loadBalancerController.gateways.classes.create=true   # docs/gateways.md`;
const configurations = ["LoadBalancerConfiguration", "TargetGroupConfiguration", "ListenerRuleConfiguration"];

/** The first release whose standard channel has every kind of route. */
const oldest = { major: 1, minor: 6 };

/** Asked with the features of the load balancer controller. */
export function checkGateways(picture: Picture): readonly Finding[] {
  const { gateways } = picture;
  if (gateways === undefined) return [];
  if (!gateways.known) return [warning(check, gateways.why, "kubectl get gatewayclasses,gateways -A")];
  const facts = gateways.value;
  const own = facts.classes.filter(({ controller }) => Object.hasOwn(flavours, controller));
  // Nothing of it is installed: nobody asks for Gateways to be served here.
  if (own.length === 0 && !facts.kinds.has(`LoadBalancerConfiguration.${configurationGroup}/v1`)) return [];
  return [
    ...missingKinds(facts),
    ...checkBundles(facts),
    ...checkClasses(facts),
    ...checkEach(facts),
    ...checkRoutes(facts),
    ...checkUses(facts, picture),
  ];
}

function missingKinds({ kinds, classes }: GatewayFacts): readonly Finding[] {
  return (Object.keys(flavours) as ControllerName[]).flatMap((name) => {
    const waiting = classes.filter(({ controller }) => controller === name).map((each) => each.name);
    const needs = [
      ...["Gateway", "GatewayClass", ...flavours[name]].map((kind) => `${kind}.${gatewayGroup}/v1`),
      `ReferenceGrant.${gatewayGroup}/v1beta1`,
      ...configurations.map((kind) => `${kind}.${configurationGroup}/v1`),
    ];
    const missing = needs.filter((kind) => !kinds.has(kind));
    if (missing.length === 0 || waiting.length === 0) return [];
    const isOurs = missing.every((kind) => kind.includes(configurationGroup));
    return [
      problem(check, `the API server does not know ${some(missing)}: classes ${some(waiting)} wait for it`, isOurs ? install : definitions),
    ];
  });
}

function checkBundles({ bundles = [] }: GatewayFacts): readonly Finding[] {
  if (bundles.length > 1)
    return [warning(check, `the definitions of the Gateway API are of several versions or channels: ${some(bundles)}`, definitions)];
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(bundles[0] ?? "") ?? [];
  const isOld = Number(major) < oldest.major || (Number(major) === oldest.major && Number(minor) < oldest.minor);
  return major !== undefined && isOld
    ? [
        warning(
          check,
          `the definitions of the Gateway API are ${bundles[0]}: v${oldest.major}.${oldest.minor} or later is needed`,
          definitions,
        ),
      ]
    : [];
}

function checkClasses({ classes, bundles }: GatewayFacts): readonly Finding[] {
  const own = classes.filter(({ controller }) => Object.hasOwn(flavours, controller));
  if (own.length === 0)
    return [
      warning(check, `no GatewayClass has the controller ${Object.keys(flavours).join(" or ")}: no Gateway is served here`, makeClasses),
    ];
  const bad = own.filter(({ accepted }) => accepted !== "True");
  if (bad.length === 0) {
    const version = bundles?.length === 1 ? `; Gateway API ${bundles[0]}` : "";
    return [ok(check, `classes ${some(own.map(({ name }) => name))} are accepted${version}`)];
  }
  return bad.map(({ name, accepted, message }) =>
    accepted === "False"
      ? problem(check, `GatewayClass ${name} is not accepted: ${message}`, `kubectl describe gatewayclass ${name}`)
      : problem(check, `nobody has accepted GatewayClass ${name}: does the load balancer controller run, with its gates open?`, install),
  );
}

function checkEach({ gateways, classes }: GatewayFacts): readonly Finding[] {
  const own = new Set(classes.filter(({ controller }) => Object.hasOwn(flavours, controller)).map(({ name }) => name));
  const known = new Set(classes.map(({ name }) => name));
  return gateways.flatMap(({ key, className, accepted, programmed, message }) => {
    const [namespace, name] = key.split("/");
    const look = `fairlead explain gateway/${name} -n ${namespace}`;
    if (!known.has(className))
      return [problem(check, `Gateway ${key} is of class ${className}, which does not exist`, "kubectl get gatewayclasses")];
    if (!own.has(className)) return [];
    if (accepted === "False") return [problem(check, `Gateway ${key} is not accepted: ${message}`, look)];
    if (accepted !== "True") return [problem(check, `nobody serves Gateway ${key}: it has no status`, look)];
    return programmed === "True" ? [] : [warning(check, `Gateway ${key} has no load balancer that is active: ${message}`, look)];
  });
}

function checkRoutes({ ungranted, untold }: GatewayFacts): readonly Finding[] {
  return [
    ...(ungranted.length > 0
      ? [
          warning(
            check,
            `lead to another namespace that does not grant it: ${some(ungranted)}`,
            "# a ReferenceGrant in that namespace: https://gateway-api.sigs.k8s.io/api-types/referencegrant/",
          ),
        ]
      : []),
    ...(untold.length > 0
      ? [
          warning(
            check,
            `name a Gateway of ours and were told nothing: ${some(untold)}`,
            "kubectl get gateways -A   # is it programmed, and does the controller watch the route's namespace?",
          ),
        ]
      : []),
  ];
}

/** What is optional as long as nobody asks for it. */
function checkUses({ gateways, classes, asksFor }: GatewayFacts, { permissions }: Picture): readonly Finding[] {
  const own = new Set(classes.filter(({ controller }) => Object.hasOwn(flavours, controller)).map(({ name }) => name));
  const discovering = gateways.filter(({ className, discovers }) => discovers && own.has(className)).map(({ key }) => key);
  const denied = new Map(
    (valueIn(permissions) ?? []).flatMap(({ subject, answers }) =>
      subject.kind === "person"
        ? []
        : answers.filter(({ verdict }) => verdict === "denied").map(({ action }) => [action, subject.arn] as const),
    ),
  );
  const uses: readonly (readonly [isUsed: boolean, text: string, actions: readonly string[]])[] = [
    [discovering.length > 0, `${some(discovering)} need certificates found`, ["acm:ListCertificates", "acm:DescribeCertificate"]],
    [
      asksFor.webAcl,
      "LoadBalancerConfigurations ask for web ACLs",
      ["wafv2:GetWebACLForResource", "wafv2:AssociateWebACL", "wafv2:DisassociateWebACL"],
    ],
    [
      asksFor.shield,
      "LoadBalancerConfigurations ask for Shield",
      ["shield:GetSubscriptionState", "shield:DescribeProtection", "shield:CreateProtection", "shield:DeleteProtection"],
    ],
  ];
  return uses.flatMap(([isUsed, text, actions]) => {
    const lacking = actions.filter((action) => denied.has(action));
    return isUsed && lacking.length > 0
      ? [
          problem(
            check,
            `${text}, and ${some(lacking)} ${lacking.length === 1 ? "is" : "are"} not allowed`,
            policyRemedy(denied.get(lacking[0]!)!, "ingresses"),
          ),
        ]
      : [];
  });
}
