import assert from "node:assert/strict";
import { before, test } from "node:test";
import { RevokeSecurityGroupIngressCommand } from "@aws-sdk/client-ec2";
import {
  type Action,
  DeregisterTargetsCommand,
  ModifyListenerCommand,
  ModifyLoadBalancerAttributesCommand,
  ModifyTargetGroupAttributesCommand,
  RegisterTargetsCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { rule } from "../elbv2/application-testing.ts";
import { createElbv2, type Elbv2 } from "../elbv2/state.ts";
import { CASES, check, type Outcome } from "./cases.ts";
import { type Request, requestFor, urlOf } from "./request.ts";
import { type Decision, route } from "./route.ts";
import { type TrafficBed, trafficBed } from "./testing.ts";
import { routingOf } from "./view.ts";

/** A client of the pure function, which keeps count of turns as a data plane does. */
function clientOf(bed: TrafficBed, elbv2: Elbv2) {
  const turns = new Map<string, number>();
  return (url: string, given: Partial<Request> = {}): Decision => {
    bed.cloud.account.time.settle();
    const arn = url.startsWith("https:") ? bed.secure.ListenerArn! : bed.plain.ListenerArn!;
    const listener = elbv2.listeners.get(arn)!;
    const routing = routingOf(elbv2, elbv2.loadBalancers.get(listener.loadBalancerArn)!, listener, (key) => turns.get(key) ?? 0);
    const decision = route(routing, requestFor(url, { sourceIp: "127.0.0.1", ...given }));
    if (decision.kind === "forwarded") for (const key of decision.choice.turns) turns.set(key, (turns.get(key) ?? 0) + 1);
    return decision;
  };
}

/** What a client would see of a decision, where its pod echoes. */
function outcomeOf(bed: TrafficBed, decision: Decision): Outcome {
  assert.notEqual(decision.kind, "dropped");
  if (decision.kind === "answered") {
    const { status, body, headers } = decision.reply;
    return { status, body, location: headers.location, type: headers["content-type"] } as Outcome;
  }
  assert.equal(decision.kind, "forwarded");
  const { choice, request } = decision as Extract<Decision, { kind: "forwarded" }>;
  const pod = bed.podAt(choice.target.id)!;
  if (pod.startsWith("sick")) return { status: 500, body: "sick" };
  const podHeaders = Object.fromEntries(Object.entries(request.headers).map(([name, values]) => [name, values.join(", ")]));
  return { status: 200, pod, podUrl: urlOf(request), podHeaders };
}

let bed: TrafficBed;
let elbv2: Elbv2;
before(async () => {
  bed = await trafficBed(false);
  elbv2 = createElbv2(bed.cloud.account);
});

for (const each of CASES) {
  test(`route: ${each.name}`, () => {
    const headers = Object.fromEntries(Object.entries(each.headers ?? {}).map(([name, value]) => [name, [value]]));
    const given = { headers, ...(each.method && { method: each.method }), ...(each.from && { sourceIp: each.from }) };
    check(each, outcomeOf(bed, clientOf(bed, elbv2)(each.url, given)));
  });
}

test("there are at least 40 cases", () => assert.ok(CASES.length >= 40, String(CASES.length)));

const chosen = (decision: Decision): string => (decision.kind === "forwarded" ? bed.podAt(decision.choice.target.id)! : decision.kind);
const cookiesOf = (decision: Decision): string => {
  assert.equal(decision.kind, "forwarded");
  const { cookies } = (decision as Extract<Decision, { kind: "forwarded" }>).choice;
  return cookies.map((line) => line.split(";")[0]).join("; ");
};

test("targets take turns", () => {
  const ask = clientOf(bed, elbv2);
  const seen = Array.from({ length: 6 }, () => chosen(ask("http://web.example.com/")));
  assert.deepEqual(seen, ["web-1", "web-2", "web-1", "web-2", "web-1", "web-2"]);
});

async function weighted(priority: number, name: string, weights: readonly [number, number], more: object = {}): Promise<void> {
  const [a, b] = [bed.groups.blue!, bed.groups.green!];
  const TargetGroups = [a, b].map(({ TargetGroupArn }, index) => ({ TargetGroupArn, Weight: weights[index] }));
  const action: Action = { Type: "forward", ForwardConfig: { TargetGroups, ...more } };
  await rule(bed, bed.plain, priority, {
    Conditions: [{ Field: "host-header", HostHeaderConfig: { Values: [name] } }],
    Actions: [action],
  });
}

test("weights are kept exactly over as many requests as they add up to, and evenly spread; a weight of 0 gets nothing", async () => {
  await weighted(101, "canary.example.com", [9, 1]);
  await weighted(102, "off.example.com", [0, 7]);
  await weighted(103, "none.example.com", [0, 0]);
  // The group that came into use with them is checked first.
  bed.world.pass(120_000);
  const ask = clientOf(bed, elbv2);
  const seen = Array.from({ length: 100 }, () => chosen(ask("http://canary.example.com/")));
  for (let start = 0; start < 100; start += 10) {
    assert.equal(seen.slice(start, start + 10).filter((pod) => pod === "green-1").length, 1, `requests ${start} to ${start + 9}`);
  }
  assert.deepEqual(new Set(Array.from({ length: 20 }, () => chosen(ask("http://off.example.com/")))), new Set(["green-1"]));
  assert.equal(outcomeOf(bed, ask("http://none.example.com/")).status, 503);
});

test("a client with the cookie of a target group stays with it until the cookie is over", async () => {
  await weighted(104, "sticky.example.com", [1, 1], { TargetGroupStickinessConfig: { Enabled: true, DurationSeconds: 60 } });
  const ask = clientOf(bed, elbv2);
  const first = ask("http://sticky.example.com/");
  const cookie = [cookiesOf(first)];
  const again = () => chosen(ask("http://sticky.example.com/", { headers: { cookie } }));
  assert.deepEqual(new Set(Array.from({ length: 6 }, again)), new Set([chosen(first)]));
  bed.world.pass(61_000);
  assert.equal(new Set(Array.from({ length: 6 }, again)).size, 2);
});

test("a client with the cookie of a target stays with it while it is healthy", async () => {
  const { TargetGroupArn } = bed.groups.web!;
  const set = (Value: string) =>
    bed.elbv2.send(new ModifyTargetGroupAttributesCommand({ TargetGroupArn, Attributes: [{ Key: "stickiness.enabled", Value }] }));
  await set("true");
  const ask = clientOf(bed, elbv2);
  const first = ask("http://web.example.com/");
  const cookie = [cookiesOf(first)];
  const again = () => chosen(ask("http://web.example.com/", { headers: { cookie } }));
  assert.deepEqual(new Set(Array.from({ length: 4 }, again)), new Set(["web-1"]));
  const target = [...elbv2.targets.values()].find(({ id }) => bed.podAt(id) === "web-1")!;
  bed.pods.put(target.id, 8080, () => ({ status: 503 }));
  bed.world.pass(120_000);
  assert.deepEqual(new Set(Array.from({ length: 4 }, again)), new Set(["web-2"]));
  bed.pods.put(target.id, 8080, () => ({ status: 200 }));
  bed.world.pass(120_000);
  assert.equal(again(), "web-1");
  await set("false");
});

test("a target that is deregistered gets nothing new, and one that is registered gets requests when it is healthy", async () => {
  const { TargetGroupArn } = bed.groups.web!;
  const Targets = [{ Id: [...elbv2.targets.values()].find(({ id }) => bed.podAt(id) === "web-2")!.id }];
  const ask = clientOf(bed, elbv2);
  const seen = () => [...new Set(Array.from({ length: 4 }, () => chosen(ask("http://web.example.com/"))))].sort();
  await bed.elbv2.send(new DeregisterTargetsCommand({ TargetGroupArn, Targets }));
  assert.deepEqual(seen(), ["web-1"]);
  await bed.elbv2.send(new RegisterTargetsCommand({ TargetGroupArn, Targets }));
  assert.deepEqual(seen(), ["web-1"]);
  bed.world.pass(120_000);
  assert.deepEqual(seen(), ["web-1", "web-2"]);
});

test("signing in: to the provider, back with a code, to the page with a session, and to the provider again when it is over", () => {
  const ask = clientOf(bed, elbv2);
  const reply = (decision: Decision) => (decision as Extract<Decision, { kind: "answered" }>).reply;
  const away = reply(ask("https://login.example.com/private?a=1"));
  const state = new URL(away.headers.location!).searchParams.get("state");
  const back = reply(ask(`https://login.example.com/oauth2/idpresponse?code=jane&state=${state}`));
  assert.deepEqual([back.status, back.headers.location], [302, "https://login.example.com/private?a=1"]);
  const cookie = [back.cookies[0]!.split(";")[0]!];
  assert.match(cookie[0]!, /^AWSELBAuthSessionCookie-0=/);
  const inside = ask("https://login.example.com/private?a=1", { headers: { cookie, "x-amzn-oidc-identity": ["root"] } });
  assert.equal(chosen(inside), "api-1");
  assert.deepEqual((inside as Extract<Decision, { kind: "forwarded" }>).request.headers["x-amzn-oidc-identity"], ["jane"]);
  bed.world.pass(604_800_000);
  assert.equal(ask("https://login.example.com/", { headers: { cookie } }).kind, "answered");
});

test("attributes of the load balancer decide what targets are told of clients", async () => {
  const set = (Key: string, Value: string) =>
    bed.elbv2.send(new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn: bed.lb.LoadBalancerArn, Attributes: [{ Key, Value }] }));
  const ask = clientOf(bed, elbv2);
  const told = () => {
    const headers = { "x-forwarded-for": ["198.51.100.1"], bad_name: ["x"] };
    const decision = ask("http://api.example.com/", { headers, sourcePort: 4711 });
    return (decision as Extract<Decision, { kind: "forwarded" }>).request.headers;
  };
  const mode = "routing.http.xff_header_processing.mode";
  await set(mode, "preserve");
  assert.deepEqual(told()["x-forwarded-for"], ["198.51.100.1"]);
  await set(mode, "remove");
  assert.equal(told()["x-forwarded-for"], undefined);
  await set(mode, "append");
  await set("routing.http.xff_client_port.enabled", "true");
  assert.deepEqual(told()["x-forwarded-for"], ["198.51.100.1, 127.0.0.1:4711"]);
  assert.deepEqual(told().bad_name, ["x"]);
  await set("routing.http.drop_invalid_header_fields.enabled", "true");
  assert.equal(told().bad_name, undefined);
});

test("the first rule by priority decides, and a change holds from the next request on", async () => {
  const ask = clientOf(bed, elbv2);
  const fixed = (StatusCode: string): Action => ({ Type: "fixed-response", FixedResponseConfig: { StatusCode } });
  const anywhere = { Field: "path-pattern", PathPatternConfig: { Values: ["/first/*"] } };
  await rule(bed, bed.plain, 201, { Conditions: [anywhere], Actions: [fixed("202")] });
  await rule(bed, bed.plain, 200, { Conditions: [anywhere], Actions: [fixed("201")] });
  assert.equal(outcomeOf(bed, ask("http://nobody.example.com/first/")).status, 201);
  await bed.elbv2.send(new ModifyListenerCommand({ ListenerArn: bed.plain.ListenerArn, DefaultActions: [fixed("418")] }));
  assert.equal(outcomeOf(bed, ask("http://nobody.example.com/")).status, 418);
});

test("a client that no security group lets in is dropped", async () => {
  const ask = clientOf(bed, elbv2);
  const IpPermissions = [{ IpProtocol: "tcp", FromPort: 80, ToPort: 80, IpRanges: [{ CidrIp: "0.0.0.0/0" }] }];
  await bed.ec2.send(new RevokeSecurityGroupIngressCommand({ GroupId: bed.groupId, IpPermissions }));
  assert.equal(ask("http://api.example.com/").kind, "dropped");
  assert.notEqual(ask("https://open.example.com/").kind, "dropped");
});
