import assert from "node:assert/strict";
import { test } from "node:test";
import { checkGateways } from "./check-gateways.ts";
import { flavours, type GatewayObjects, gatewayFacts, type Item } from "./gateway-facts.ts";
import type { Permissions, Picture } from "./picture.ts";

const api = "gateway.networking.k8s.io";
const kinds = [
  ...["Gateway", "GatewayClass", ...Object.values(flavours).flat()].map((kind) => `${kind}.${api}/v1`),
  `ReferenceGrant.${api}/v1beta1`,
  ...["LoadBalancerConfiguration", "TargetGroupConfiguration", "ListenerRuleConfiguration"].map((kind) => `${kind}.gateway.k8s.aws/v1`),
];
const said = (type: string, status: string, reason = status, message = "") => ({ type, status, reason, message });
const fine = [said("Accepted", "True"), said("Programmed", "True")];

function definition(version = "v1.6.1", channel = "standard"): Item {
  return {
    metadata: { name: "d", annotations: { [`${api}/bundle-version`]: version, [`${api}/channel`]: channel } },
    spec: { group: api },
  };
}
const classOf = (name: string, flavour: string, ...conditions: readonly ReturnType<typeof said>[]): Item => ({
  metadata: { name },
  spec: { controllerName: `gateway.k8s.aws/${flavour}` },
  status: { conditions },
});
const gateway = (name: string, conditions: readonly ReturnType<typeof said>[], spec: Item["spec"] = {}): Item => ({
  metadata: { namespace: "shop", name },
  spec: { gatewayClassName: "alb", ...spec },
  status: { conditions },
});

const told = (objects: Partial<GatewayObjects> = {}, permissions: readonly Permissions[] = []) => {
  const sound: GatewayObjects = {
    kinds,
    definitions: [definition()],
    classes: [classOf("alb", "alb", said("Accepted", "True"))],
    gateways: [],
    routes: [],
    configurations: [],
  };
  const picture = {
    gateways: { known: true, value: gatewayFacts({ ...sound, ...objects }) },
    permissions: { known: true, value: permissions },
  };
  return checkGateways(picture as unknown as Picture).map(({ level, what }) => `${level} ${what}`);
};

test("accepted classes and definitions of one version are all that Gateways take", () => {
  assert.deepEqual(told(), ["ok classes alb are accepted; Gateway API v1.6.1 standard"]);
  assert.deepEqual(told({ definitions: undefined }), ["ok classes alb are accepted"]);
  assert.deepEqual(told({ gateways: [gateway("edge", fine)] }).length, 1);
  assert.deepEqual(checkGateways({} as Picture), [], "nobody asked");
  const elsewhere = { metadata: { name: "other" }, spec: { controllerName: "example.com/gateway" } };
  assert.deepEqual(told({ kinds: [`Gateway.${api}/v1`], classes: [elsewhere] }), [], "another controller's Gateways are its own");
});

test("definitions that are missing, of several versions, or old", () => {
  const without = (kind: string) => kinds.filter((each) => !each.startsWith(kind));
  assert.deepEqual(told({ kinds: without("TCPRoute") }).length, 1, "no class waits for it");
  const nlb = { kinds: without("TCPRoute"), classes: [classOf("nlb", "nlb", said("Accepted", "True"))] };
  assert.match(
    told(nlb)[0] ?? "",
    /^problem the API server does not know TCPRoute\.gateway\.networking\.k8s\.io\/v1: classes nlb wait for it/,
  );
  assert.match(
    told({ definitions: [definition(), definition("v1.5.0")] })[0] ?? "",
    /^warning .* several versions or channels: v1\.5\.0 standard, v1\.6\.1/,
  );
  assert.match(told({ definitions: [definition("v1.5.1")] })[0] ?? "", /^warning .* are v1\.5\.1 standard: v1\.6 or later is needed/);
});

test("classes that nobody has accepted, or that are refused, or that are none of ours", () => {
  assert.match(
    told({ classes: [] }).join(),
    /^warning no GatewayClass has the controller gateway\.k8s\.aws\/alb or gateway\.k8s\.aws\/nlb/,
  );
  assert.match(
    told({ classes: [classOf("alb", "alb", said("Accepted", "Unknown", "Pending"))] }).join(),
    /^problem nobody has accepted GatewayClass alb/,
  );
  const refused = classOf("alb", "alb", said("Accepted", "False", "NotFound", "LoadBalancerConfiguration (own,shop) not found"));
  assert.match(
    told({ classes: [refused] }).join(),
    /^problem GatewayClass alb is not accepted: LoadBalancerConfiguration \(own,shop\) not found/,
  );
});

test("Gateways that nobody serves", () => {
  const one = (item: Item) =>
    told({ gateways: [item] })
      .slice(1)
      .join();
  assert.equal(
    one(gateway("edge", fine, { gatewayClassName: "typo" })),
    "problem Gateway shop/edge is of class typo, which does not exist",
  );
  assert.match(one(gateway("edge", [said("Accepted", "Unknown", "Pending")])), /^problem nobody serves Gateway shop\/edge/);
  assert.equal(one(gateway("edge", [said("Accepted", "False", "Invalid", "why")])), "problem Gateway shop/edge is not accepted: why");
  const pending = [said("Accepted", "True"), said("Programmed", "Unknown", "Pending", "Waiting")];
  assert.match(one(gateway("edge", pending)), /^warning Gateway shop\/edge has no load balancer that is active: Waiting/);
});

test("routes without a grant, and routes that were told nothing", () => {
  const route = (name: string, parents: NonNullable<Item["status"]>["parents"]): Item => ({
    kind: "HTTPRoute",
    metadata: { namespace: "shop", name },
    spec: { parentRefs: [{ name: "edge" }] },
    status: { parents: parents ?? [] },
  });
  const entry = (reason: string) => ({
    controllerName: "gateway.k8s.aws/alb",
    parentRef: { name: "edge" },
    conditions: [said("ResolvedRefs", reason === "ResolvedRefs" ? "True" : "False", reason)],
  });
  const routes = [route("fine", [entry("ResolvedRefs")]), route("far", [entry("RefNotPermitted")]), route("silent", [])];
  assert.deepEqual(told({ gateways: [gateway("edge", fine)], routes }).slice(1), [
    "warning lead to another namespace that does not grant it: HTTPRoute shop/far",
    "warning name a Gateway of ours and were told nothing: HTTPRoute shop/silent",
  ]);
});

test("permissions that are optional until somebody asks for what they are for", () => {
  const deny = (...actions: readonly string[]) =>
    [
      {
        subject: { kind: "role", arn: "arn:aws:iam::1:role/lbc" },
        answers: actions.map((action) => ({ feature: "ingresses", action, verdict: "denied" })),
      },
    ] as unknown as readonly Permissions[];
  const denied = deny("acm:ListCertificates", "wafv2:AssociateWebACL", "shield:CreateProtection", "shield:DeleteProtection");
  const secure = gateway("edge", fine, { listeners: [{ port: 443, protocol: "HTTPS" }] });
  assert.equal(told({ gateways: [gateway("edge", fine)] }, denied).length, 1, "nobody asks for it");
  assert.match(
    told({ gateways: [secure] }, denied)[1] ?? "",
    /^problem shop\/edge need certificates found, and acm:ListCertificates is not allowed/,
  );
  const named = {
    metadata: { name: "own" },
    spec: { listenerConfigurations: [{ protocolPort: "HTTPS:443", defaultCertificate: "arn:c" }] },
  };
  assert.equal(told({ gateways: [secure], configurations: [named] }, denied).length, 1);
  const guarded = { metadata: { name: "own" }, spec: { wafV2: { webACL: "arn:w" }, shieldConfiguration: { enabled: true } } };
  assert.deepEqual(told({ configurations: [guarded] }, denied).slice(1), [
    "problem LoadBalancerConfigurations ask for web ACLs, and wafv2:AssociateWebACL is not allowed",
    "problem LoadBalancerConfigurations ask for Shield, and shield:CreateProtection, shield:DeleteProtection are not allowed",
  ]);
});
