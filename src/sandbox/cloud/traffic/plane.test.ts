import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from "node:http";
import { request as httpsRequest } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { after, before, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { AuthorizeSecurityGroupIngressCommand } from "@aws-sdk/client-ec2";
import {
  ConfigureHealthCheckCommand,
  CreateLoadBalancerCommand as CreateClassicCommand,
  RegisterInstancesWithLoadBalancerCommand,
} from "@aws-sdk/client-elastic-load-balancing";
import {
  CreateRuleCommand,
  DeleteListenerCommand,
  DeregisterTargetsCommand,
  DescribeTargetHealthCommand,
  ModifyListenerAttributesCommand,
  RegisterTargetsCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { describedGroup, group, listener, network } from "../elbv2/testing.ts";
import { CASES, check, type Outcome } from "./cases.ts";
import { DataPlane } from "./plane.ts";
import type { LoopbackAddress } from "./pods.ts";
import { openTo, type TrafficBed, trafficBed } from "./testing.ts";

let bed: TrafficBed;
let plane: DataPlane;
/** Servers beside the pods, by address of the VPC. */
const beside = new Map<string, LoopbackAddress>();
const servers: Server[] = [];

before(async () => {
  bed = await trafficBed(true);
  const reach = (target: { readonly address: string; readonly port: number }) =>
    beside.get(`${target.address}:${target.port}`) ?? bed.pods.reach(target);
  plane = new DataPlane({ cloud: bed.cloud, random: bed.world.random, reach });
  await plane.sync();
});

after(async () => {
  await plane.close();
  await bed.pods.close();
  for (const server of servers) server.close();
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Asked {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly from?: string | undefined;
}

/** What a client gets that resolves every name to the load balancer. */
function fetchThrough(dnsName: string, url: string, { method = "GET", headers = {}, from }: Asked = {}): Promise<Answer> {
  const { protocol, hostname, pathname, search } = new URL(url);
  const secure = protocol === "https:";
  const local = plane.addressOf(dnsName, secure ? 443 : 80)!;
  const options = {
    ...local,
    method,
    path: pathname + search,
    headers: { host: hostname, ...headers },
    agent: false,
    ...(from && { localAddress: from }),
    ...(secure && { servername: hostname, ca: plane.authority }),
  };
  return new Promise((resolve, reject) => {
    const request = (secure ? httpsRequest : httpRequest)(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks).toString("utf8") }),
      );
    });
    request.once("error", reject);
    request.end();
  });
}

const ask = (url: string, asked: Asked = {}) => fetchThrough(bed.lb.DNSName!, url, asked);

function outcomeOf({ status, headers, body }: Answer): Outcome {
  const seen = { status, body, location: headers.location, type: headers["content-type"] } as Outcome;
  if (headers["x-pod"] === undefined) return seen;
  const told = JSON.parse(body) as { pod: string; url: string; headers: Record<string, string> };
  return { ...seen, pod: told.pod, podUrl: told.url, podHeaders: told.headers };
}

for (const each of CASES) {
  test(`over sockets: ${each.name}`, async () => check(each, outcomeOf(await ask(each.url, each))));
}

test("requests are spread over targets, and bodies go through", async () => {
  const pods = new Set<string>();
  for (let count = 0; count < 4; count++) pods.add(outcomeOf(await ask("http://web.example.com/")).pod!);
  assert.deepEqual([...pods].sort(), ["web-1", "web-2"]);
  const server = createServer((request, response) => request.pipe(response));
  await listen(server, "10.0.0.50:8080");
  await route("upload.example.com", "10.0.0.50", 401);
  const local = plane.addressOf(bed.lb.DNSName!, 80)!;
  const body = await new Promise<string>((resolve, reject) => {
    const request = httpRequest({ ...local, method: "POST", headers: { host: "upload.example.com" }, agent: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += chunk)).on("end", () => resolve(text));
    });
    request.once("error", reject);
    request.end("x".repeat(100_000));
  });
  assert.equal(body.length, 100_000);
});

/** A server on loopback that stands for an address of the VPC. */
async function listen(server: Server, place: string): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  beside.set(place, { host: "127.0.0.1", port: (server.address() as AddressInfo).port });
  const [address = "", port = ""] = place.split(":");
  bed.pods.put(address, Number(port), () => ({ status: 200 }));
}

/** A rule that sends a host to one address, healthy when it returns. */
async function route(name: string, address: string, Priority: number): Promise<string> {
  const { TargetGroupArn } = await group(bed, {
    Name: `g${Priority}`,
    Protocol: "HTTP",
    Port: 8080,
    TargetType: "ip",
    HealthyThresholdCount: 2,
  });
  await bed.elbv2.send(new RegisterTargetsCommand({ TargetGroupArn, Targets: [{ Id: address }] }));
  await bed.elbv2.send(
    new CreateRuleCommand({
      ListenerArn: bed.plain.ListenerArn,
      Priority,
      Conditions: [{ Field: "host-header", HostHeaderConfig: { Values: [name] } }],
      Actions: [{ Type: "forward", TargetGroupArn }],
    }),
  );
  bed.world.pass(120_000);
  return TargetGroupArn!;
}

test("a request that is being answered is finished after its target is deregistered, and new ones go elsewhere", async () => {
  const held: (() => void)[] = [];
  const server = createServer((_, response) => void held.push(() => response.end("late")));
  await listen(server, "10.0.0.51:8080");
  const arrived = new Promise<void>((resolve) => server.once("request", () => resolve()));
  const TargetGroupArn = await route("slow.example.com", "10.0.0.51", 402);
  const answer = ask("http://slow.example.com/");
  await arrived;
  await bed.elbv2.send(new DeregisterTargetsCommand({ TargetGroupArn, Targets: [{ Id: "10.0.0.51" }] }));
  assert.equal((await ask("http://slow.example.com/")).status, 503);
  for (const release of held) release();
  assert.deepEqual([(await answer).status, (await answer).body], [200, "late"]);
});

test("a target that refuses connections is answered for with 502", async () => {
  bed.pods.put("10.0.0.52", 8080, () => ({ status: 200 }));
  await route("refused.example.com", "10.0.0.52", 403);
  assert.equal((await ask("http://refused.example.com/")).status, 502);
});

test("answers carry the headers that the listener's attributes set", async () => {
  const Attributes = [
    { Key: "routing.http.response.x_frame_options.header_value", Value: "DENY" },
    { Key: "routing.http.response.server.enabled", Value: "false" },
  ];
  assert.equal((await ask("http://nobody.example.com/")).headers.server, "awselb/2.0");
  await bed.elbv2.send(new ModifyListenerAttributesCommand({ ListenerArn: bed.plain.ListenerArn, Attributes }));
  const { headers } = await ask("http://nobody.example.com/");
  assert.deepEqual([headers["x-frame-options"], headers.server], ["DENY", undefined]);
});

test("HTTPS listeners serve the certificate for the host that is asked for", async () => {
  const local = plane.addressOf(bed.lb.DNSName!, 443)!;
  const names = await new Promise<string | undefined>((resolve, reject) => {
    const socket = connectTls({ ...local, servername: "shop.example.com", ca: plane.authority }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw).subjectAltName);
      socket.end();
    });
    socket.once("error", reject);
  });
  assert.equal(names, "DNS:example.com, DNS:*.example.com");
});

/** Everything that a connection says after a line was sent. */
function converse(local: LoopbackAddress, line: string): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(local, () => socket.write(line));
    socket.on("data", (chunk) => (text += chunk));
    socket.on("error", () => resolve("reset"));
    socket.on("close", () => resolve(text === "" ? "reset" : text));
  });
}

test("a network load balancer passes connections on to its targets, and resets them where it has none", async () => {
  const lb = await network(bed, { Name: "net", SecurityGroups: [bed.groupId] });
  await openTo(bed, bed.groupId, 9000);
  const tg = await group(bed, { Name: "net", TargetType: "ip", Port: 8080, HealthyThresholdCount: 2 });
  await listener(bed, lb, tg, { Port: 9000 });
  bed.world.pass(130_000);
  await plane.sync();
  const local = plane.addressOf(lb.DNSName!, 9000)!;
  const get = "GET /net HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  assert.equal(await converse(local, get), "reset");
  const Id = bed.groups.api && (await targetsOf("api"))[0]!;
  await bed.elbv2.send(new RegisterTargetsCommand({ TargetGroupArn: tg.TargetGroupArn, Targets: [{ Id }] }));
  bed.world.pass(120_000);
  assert.match(await converse(local, get), /"pod":"api-1".*"url":"\/net"/s);
});

test("a network load balancer passes datagrams on, one client's to one target, and drops them where a security group does", async () => {
  const lb = await network(bed, { Name: "datagrams", SecurityGroups: [bed.groupId] });
  const targets = await Promise.all(["10.0.0.61", "10.0.0.62"].map(startDatagramEcho));
  const tg = await group(bed, { Name: "datagrams", Protocol: "UDP", TargetType: "ip", Port: 5353, HealthCheckPort: "8080" });
  for (const Port of [5300, 5301]) await listener(bed, lb, tg, { Protocol: "UDP", Port });
  await openTo(bed, bed.groupId, 5301);
  const udp = { IpProtocol: "udp", FromPort: 5300, ToPort: 5300, IpRanges: [{ CidrIp: "0.0.0.0/0" }] };
  await bed.ec2.send(new AuthorizeSecurityGroupIngressCommand({ GroupId: bed.groupId, IpPermissions: [udp] }));
  await bed.elbv2.send(new RegisterTargetsCommand({ TargetGroupArn: tg.TargetGroupArn, Targets: targets.map((Id) => ({ Id })) }));
  bed.world.pass(240_000);
  await plane.sync();
  assert.equal(plane.addressOf(lb.DNSName!, 5300), undefined, "no connections are taken");
  const client = createSocket("udp4");
  after(() => client.close());
  const answers: string[] = [];
  client.on("message", (text) => answers.push(text.toString("utf8")));
  const say = (text: string, port: number) => {
    const local = plane.addressOf(lb.DNSName!, port, "udp")!;
    client.send(text, local.port, local.host);
  };
  // The rule for this port is one of TCP; by the time that the others are answered it would have been, too.
  say("dropped", 5301);
  for (const text of ["one", "two", "three"]) {
    const answered = once(client, "message");
    say(text, 5300);
    await answered;
  }
  const target = answers[0]!.split(" ")[0]!;
  assert.deepEqual(answers, [`${target} one`, `${target} two`, `${target} three`]);
  assert.ok(targets.includes(target));
});

/** Answers datagrams at an address of the VPC with the address and what was said. */
async function startDatagramEcho(address: string): Promise<string> {
  const socket = createSocket("udp4");
  socket.on("message", (text, from) => socket.send(`${address} ${text}`, from.port, from.address));
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  after(() => socket.close());
  beside.set(`${address}:5353`, { host: "127.0.0.1", port: socket.address().port });
  return address;
}

async function targetsOf(name: string): Promise<readonly string[]> {
  const { TargetGroupArn } = await describedGroup(bed, name);
  const { TargetHealthDescriptions } = await bed.elbv2.send(new DescribeTargetHealthCommand({ TargetGroupArn }));
  return TargetHealthDescriptions!.map(({ Target }) => Target!.Id!);
}

test("a network load balancer in front of an application load balancer: healthy by what that answers, and rules hold", async () => {
  const lb = await network(bed, { Name: "front" });
  const Matcher = { HttpCode: "404" };
  const tg = await group(bed, {
    Name: "front",
    TargetType: "alb",
    Port: 80,
    HealthCheckProtocol: "HTTP",
    HealthyThresholdCount: 2,
    Matcher,
  });
  await listener(bed, lb, tg, { Port: 80 });
  const Targets = [{ Id: bed.lb.LoadBalancerArn!, Port: 80 }];
  await bed.elbv2.send(new RegisterTargetsCommand({ TargetGroupArn: tg.TargetGroupArn, Targets }));
  bed.world.pass(240_000);
  const { TargetHealthDescriptions } = await bed.elbv2.send(new DescribeTargetHealthCommand({ TargetGroupArn: tg.TargetGroupArn }));
  assert.equal(TargetHealthDescriptions![0]!.TargetHealth!.State, "healthy");
  await plane.sync();
  assert.equal((await fetchThrough(lb.DNSName!, "http://shop.example.com/cart")).body, "cart");
});

test("a classic load balancer spreads requests over instances in service, and has 503 without any", async () => {
  const [id] = await bed.instances(1);
  const address = bed.cloud.account.ec2.interfaces.get(bed.cloud.account.ec2.instances.get(id!)!.interfaceIds[0]!)!.privateAddresses[0]!;
  const Listeners = [{ Protocol: "HTTP", LoadBalancerPort: 80, InstancePort: 31080 }];
  const made = await bed.elb.send(
    new CreateClassicCommand({ LoadBalancerName: "old", Listeners, Subnets: [bed.subnets[0]], SecurityGroups: [bed.groupId] }),
  );
  const HealthCheck = { Target: "TCP:31080", Interval: 10, Timeout: 5, HealthyThreshold: 2, UnhealthyThreshold: 2 };
  await bed.elb.send(new ConfigureHealthCheckCommand({ LoadBalancerName: "old", HealthCheck }));
  await plane.sync();
  assert.equal((await fetchThrough(made.DNSName!, "http://a/")).status, 503);
  await bed.pods.start(address, 31080, () => ({ status: 200, body: "instance" }));
  await bed.elb.send(new RegisterInstancesWithLoadBalancerCommand({ LoadBalancerName: "old", Instances: [{ InstanceId: id }] }));
  bed.world.pass(60_000);
  assert.equal((await fetchThrough(made.DNSName!, "http://a/")).body, "instance");
});

test("a listener that is gone no longer listens", async () => {
  const local = plane.addressOf(bed.lb.DNSName!, 443)!;
  await bed.elbv2.send(new DeleteListenerCommand({ ListenerArn: bed.secure.ListenerArn }));
  await plane.sync();
  assert.equal(plane.addressOf(bed.lb.DNSName!, 443), undefined);
  assert.equal(await converse(local, "x"), "reset");
  assert.ok(plane.ports().some(({ dnsName, port, protocol }) => dnsName === bed.lb.DNSName && port === 80 && protocol === "HTTP"));
});
