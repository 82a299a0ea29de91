import assert from "node:assert/strict";
import { test } from "node:test";
import { CreateVpcCommand } from "@aws-sdk/client-ec2";
import {
  AddListenerCertificatesCommand,
  DeleteListenerCommand,
  DescribeListenerAttributesCommand,
  DescribeListenerCertificatesCommand,
  DescribeListenersCommand,
  ModifyListenerAttributesCommand,
  ModifyListenerCommand,
  type ModifyListenerCommandInput,
  type ProtocolEnum,
  RemoveListenerCertificatesCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { balancingBed, CERTIFICATE } from "../balancing/testing.ts";
import { refused } from "../testing.ts";
import { describedGroup, group, listener, network } from "./testing.ts";

const TLS = { Protocol: "TLS" as const, Port: 443, Certificates: [{ CertificateArn: CERTIFICATE }] };

test("a second listener on one port is DuplicateListener, whatever its protocol; the same one again is returned", async () => {
  const bed = await balancingBed();
  const lb = await network(bed);
  const tg = await group(bed);
  const first = await listener(bed, lb, tg);
  assert.match(first.ListenerArn!, /:listener\/net\/web\/[0-9a-f]{16}\/[0-9a-f]{16}$/);
  assert.equal((await listener(bed, lb, tg)).ListenerArn, first.ListenerArn);
  const udp = await group(bed, { Name: "udp", Protocol: "UDP" });
  await refused(listener(bed, lb, udp, { Protocol: "UDP" }), "DuplicateListenerException");
  await refused(listener(bed, lb, tg, { ...TLS, Port: 80 }), "DuplicateListenerException");
});

test("listener and target group protocols must go together", async () => {
  const bed = await balancingBed();
  const lb = await network(bed);
  const pairs: [ProtocolEnum, ProtocolEnum, boolean][] = [
    ["TCP", "TCP", true],
    ["TCP", "UDP", false],
    ["TCP", "TLS", false],
    ["TLS", "TCP", true],
    ["TLS", "TLS", true],
    ["TLS", "UDP", false],
    ["UDP", "UDP", true],
    ["UDP", "TCP", false],
    ["UDP", "TCP_UDP", true],
    ["TCP_UDP", "TCP_UDP", true],
    ["TCP_UDP", "TCP", false],
    ["QUIC", "QUIC", true],
    ["TCP_QUIC", "TCP_QUIC", true],
    ["TCP_QUIC", "QUIC", false],
  ];
  for (const [index, [Protocol, backend, fits]] of pairs.entries()) {
    const tg = await group(bed, { Name: `g${index}`, Protocol: backend });
    const certificates = Protocol === "TLS" ? { Certificates: TLS.Certificates } : {};
    const made = listener(bed, lb, tg, { Protocol, Port: 1000 + index, ...certificates });
    if (fits) await made;
    else await refused(made, "IncompatibleProtocolsException");
  }
});

test("HTTP on a network load balancer is a ValidationError that names what is possible, and only forwarding is allowed", async () => {
  const bed = await balancingBed();
  const lb = await network(bed);
  const tg = await group(bed);
  assert.match(await refused(listener(bed, lb, tg, { Protocol: "HTTP" }), "ValidationError"), /'HTTP' must be one of '.*TCP/);
  const fixed = { Type: "fixed-response", FixedResponseConfig: { StatusCode: "200" } } as const;
  await refused(listener(bed, lb, tg, { DefaultActions: [fixed] }), "InvalidLoadBalancerActionException");
});

test("TLS needs a certificate that the account has and AWS supports, and a security policy that exists", async () => {
  const bed = await balancingBed();
  const lb = await network(bed);
  const tg = await group(bed);
  await refused(listener(bed, lb, tg, { Protocol: "TLS", Port: 443 }), "ValidationError");
  const unknown = [{ CertificateArn: CERTIFICATE.replace("1111", "9999") }];
  await refused(listener(bed, lb, tg, { ...TLS, Certificates: unknown }), "CertificateNotFoundException");
  bed.cloud.controls.change({ unsupportedCertificates: [`${CERTIFICATE}-weak`] });
  const weak = [{ CertificateArn: `${CERTIFICATE}-weak` }];
  await refused(listener(bed, lb, tg, { ...TLS, Certificates: weak }), "UnsupportedCertificate");
  const two = [{ CertificateArn: CERTIFICATE }, { CertificateArn: `${CERTIFICATE}-2` }];
  await refused(listener(bed, lb, tg, { ...TLS, Certificates: two }), "TooManyCertificatesException");
  await refused(listener(bed, lb, tg, { ...TLS, SslPolicy: "no-such" }), "SSLPolicyNotFoundException");
  await refused(listener(bed, lb, tg, { ...TLS, AlpnPolicy: ["no-such"] }), "ALPNPolicyNotSupportedException");
  await refused(listener(bed, lb, tg, { Certificates: TLS.Certificates }), "InvalidConfigurationRequestException");
  await refused(listener(bed, lb, tg, { ...TLS, MutualAuthentication: { Mode: "off" } }), "InvalidConfigurationRequestException");
  const made = await listener(bed, lb, tg, { ...TLS, AlpnPolicy: ["HTTP2Preferred"] });
  assert.equal(made.SslPolicy, "ELBSecurityPolicy-2016-08");
  assert.deepEqual(made.AlpnPolicy, ["HTTP2Preferred"]);
  assert.deepEqual(made.Certificates, [{ CertificateArn: CERTIFICATE }]);
});

test("a plain listener reports no security policy, certificate or ALPN policy, and its action in both forms", async () => {
  const bed = await balancingBed();
  const tg = await group(bed);
  const made = await listener(bed, await network(bed), tg);
  assert.equal(made.SslPolicy, undefined);
  assert.equal(made.AlpnPolicy, undefined);
  assert.equal(made.Certificates, undefined);
  assert.equal(made.DefaultActions?.[0]?.TargetGroupArn, tg.TargetGroupArn);
  assert.deepEqual(made.DefaultActions?.[0]?.ForwardConfig?.TargetGroups, [{ TargetGroupArn: tg.TargetGroupArn, Weight: 1 }]);
});

test("a target group serves one network load balancer only, in its own VPC", async () => {
  const bed = await balancingBed();
  const tg = await group(bed);
  await listener(bed, await network(bed), tg);
  const second = await network(bed, { Name: "second" });
  await refused(listener(bed, second, tg), "TargetGroupAssociationLimitException");
  const other = (await bed.ec2.send(new CreateVpcCommand({ CidrBlock: "10.9.0.0/16" }))).Vpc!.VpcId!;
  const foreign = await group(bed, { Name: "foreign", VpcId: other });
  await refused(listener(bed, second, foreign), "InvalidConfigurationRequestException");
});

test("the quota of listeners is TooManyListeners", async () => {
  const bed = await balancingBed();
  bed.cloud.controls.change({ quotas: { listenersPerLoadBalancer: 1 } });
  const lb = await network(bed);
  const tg = await group(bed);
  await listener(bed, lb, tg);
  await refused(listener(bed, lb, tg, { Port: 81 }), "TooManyListenersException");
});

test("a listener of any protocol is modified: port, protocol, action, policy, certificate and ALPN policy", async () => {
  const bed = await balancingBed();
  const lb = await network(bed);
  const tg = await group(bed);
  const other = await group(bed, { Name: "other", Port: 31081 });
  const { ListenerArn } = await listener(bed, lb, tg);
  await listener(bed, lb, tg, { Port: 81 });
  const modify = async (input: Partial<ModifyListenerCommandInput>) =>
    (await bed.elbv2.send(new ModifyListenerCommand({ ListenerArn, ...input }))).Listeners![0]!;
  await refused(modify({ Port: 81 }), "DuplicateListenerException");
  await refused(modify({ Protocol: "TLS" }), "ValidationError");
  const secure = await modify({ Protocol: "TLS", Port: 443, Certificates: TLS.Certificates, AlpnPolicy: ["None"] });
  assert.equal(secure.SslPolicy, "ELBSecurityPolicy-2016-08");
  const SslPolicy = "ELBSecurityPolicy-TLS13-1-2-2021-06";
  const CertificateArn = `${CERTIFICATE}-2`;
  const again = await modify({ Protocol: "TLS", SslPolicy, Certificates: [{ CertificateArn }] });
  assert.equal(again.SslPolicy, SslPolicy);
  assert.deepEqual(again.Certificates, [{ CertificateArn }]);
  assert.deepEqual(again.AlpnPolicy, ["None"]);
  const unknown = { Type: "forward", TargetGroupArn: tg.TargetGroupArn!.replace(/.$/, "x") } as const;
  await refused(modify({ DefaultActions: [unknown] }), "TargetGroupNotFoundException");
  await modify({ DefaultActions: [{ Type: "forward", TargetGroupArn: other.TargetGroupArn }] });
  assert.deepEqual((await describedGroup(bed, "other")).LoadBalancerArns, [lb.LoadBalancerArn]);
  const plain = await modify({ Protocol: "TCP" });
  assert.equal(plain.SslPolicy, undefined);
  assert.equal(plain.Certificates, undefined);
});

test("the load balancers of a target group are told once each, and no longer once the listener is gone or points elsewhere", async () => {
  const bed = await balancingBed();
  const lb = await network(bed);
  const tg = await group(bed);
  const other = await group(bed, { Name: "other" });
  const one = await listener(bed, lb, tg);
  const two = await listener(bed, lb, tg, { Port: 81 });
  assert.deepEqual((await describedGroup(bed)).LoadBalancerArns, [lb.LoadBalancerArn]);
  await bed.elbv2.send(new DeleteListenerCommand({ ListenerArn: one.ListenerArn }));
  const DefaultActions = [{ Type: "forward" as const, TargetGroupArn: other.TargetGroupArn }];
  await bed.elbv2.send(new ModifyListenerCommand({ ListenerArn: two.ListenerArn, DefaultActions }));
  assert.deepEqual((await describedGroup(bed)).LoadBalancerArns, []);
  assert.deepEqual((await describedGroup(bed, "other")).LoadBalancerArns, [lb.LoadBalancerArn]);
});

test("deleting a listener that is not there is ListenerNotFound, unlike load balancers and target groups", async () => {
  const bed = await balancingBed();
  const { ListenerArn } = await listener(bed, await network(bed), await group(bed));
  await bed.elbv2.send(new DeleteListenerCommand({ ListenerArn }));
  await refused(bed.elbv2.send(new DeleteListenerCommand({ ListenerArn })), "ListenerNotFoundException");
  await refused(bed.elbv2.send(new DescribeListenersCommand({ ListenerArns: [ListenerArn!] })), "ListenerNotFoundException");
});

test("listeners come in pages", async () => {
  const bed = await balancingBed();
  const lb = await network(bed);
  const tg = await group(bed);
  for (const Port of [80, 81, 82]) await listener(bed, lb, tg, { Port });
  const { LoadBalancerArn } = lb;
  const first = await bed.elbv2.send(new DescribeListenersCommand({ LoadBalancerArn, PageSize: 2 }));
  const second = await bed.elbv2.send(new DescribeListenersCommand({ LoadBalancerArn, PageSize: 2, Marker: first.NextMarker }));
  const ports = [...first.Listeners!, ...second.Listeners!].map((one) => one.Port).sort();
  assert.deepEqual([first.Listeners?.length, ports, second.NextMarker], [2, [80, 81, 82], undefined]);
  await refused(bed.elbv2.send(new DescribeListenersCommand({})), "ValidationError");
});

test("more certificates are added and removed, the default one is flagged, and follows a change at once", async () => {
  const bed = await balancingBed();
  const { ListenerArn } = await listener(bed, await network(bed), await group(bed), TLS);
  const add = (CertificateArn: string) =>
    bed.elbv2.send(new AddListenerCertificatesCommand({ ListenerArn, Certificates: [{ CertificateArn }] }));
  const remove = (CertificateArn: string) =>
    bed.elbv2.send(new RemoveListenerCertificatesCommand({ ListenerArn, Certificates: [{ CertificateArn }] }));
  const list = async () => (await bed.elbv2.send(new DescribeListenerCertificatesCommand({ ListenerArn }))).Certificates;
  await refused(add(CERTIFICATE.replace("1111", "9999")), "CertificateNotFoundException");
  await add(`${CERTIFICATE}-2`);
  await add(`${CERTIFICATE}-2`);
  const extra = { CertificateArn: `${CERTIFICATE}-2`, IsDefault: false };
  assert.deepEqual(await list(), [{ CertificateArn: CERTIFICATE, IsDefault: true }, extra]);
  await bed.elbv2.send(new ModifyListenerCommand({ ListenerArn, Certificates: [{ CertificateArn: `${CERTIFICATE}-3` }] }));
  assert.deepEqual(await list(), [{ CertificateArn: `${CERTIFICATE}-3`, IsDefault: true }, extra]);
  await refused(remove(`${CERTIFICATE}-3`), "OperationNotPermittedException");
  await remove(`${CERTIFICATE}-2`);
  assert.equal((await list())?.length, 1);
});

test("only TCP listeners have an idle timeout, and unknown listener attributes are refused", async () => {
  const bed = await balancingBed();
  const lb = await network(bed);
  const tcp = await listener(bed, lb, await group(bed));
  const udp = await listener(bed, lb, await group(bed, { Name: "udp", Protocol: "UDP" }), { Protocol: "UDP", Port: 53 });
  const list = async (ListenerArn: string | undefined) =>
    (await bed.elbv2.send(new DescribeListenerAttributesCommand({ ListenerArn }))).Attributes;
  assert.deepEqual(await list(tcp.ListenerArn), [{ Key: "tcp.idle_timeout.seconds", Value: "350" }]);
  assert.deepEqual(await list(udp.ListenerArn), []);
  const set = (ListenerArn: string | undefined, Key: string, Value: string) =>
    bed.elbv2.send(new ModifyListenerAttributesCommand({ ListenerArn, Attributes: [{ Key, Value }] }));
  await refused(set(tcp.ListenerArn, "no.such", "1"), "InvalidConfigurationRequestException");
  await refused(set(tcp.ListenerArn, "tcp.idle_timeout.seconds", "59"), "InvalidConfigurationRequestException");
  await refused(set(udp.ListenerArn, "tcp.idle_timeout.seconds", "60"), "InvalidConfigurationRequestException");
  await set(tcp.ListenerArn, "tcp.idle_timeout.seconds", "60");
  assert.deepEqual(await list(tcp.ListenerArn), [{ Key: "tcp.idle_timeout.seconds", Value: "60" }]);
});

test("QUIC needs a load balancer without security groups", async () => {
  const bed = await balancingBed();
  const quic = await group(bed, { Name: "quic", Protocol: "QUIC" });
  const guarded = await network(bed, { Name: "guarded", SecurityGroups: [bed.groupId] });
  await refused(listener(bed, guarded, quic, { Protocol: "QUIC", Port: 443 }), "InvalidConfigurationRequestException");
  await listener(bed, await network(bed), quic, { Protocol: "QUIC", Port: 443 });
});
