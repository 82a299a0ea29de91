import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateLoadBalancerListenersCommand,
  DeleteLoadBalancerListenersCommand,
  type Listener,
  SetLoadBalancerListenerSSLCertificateCommand,
} from "@aws-sdk/client-elastic-load-balancing";
import { balancingBed, CERTIFICATE } from "../balancing/testing.ts";
import { refused } from "../testing.ts";
import { classic, described } from "./testing.ts";

const LoadBalancerName = "web";
const SECURE: Listener = {
  Protocol: "SSL",
  LoadBalancerPort: 443,
  InstanceProtocol: "TCP",
  InstancePort: 31443,
  SSLCertificateId: CERTIFICATE,
};

test("a port with other settings is DuplicateListener, the same listener again is accepted, and deleting a missing port too", async () => {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed));
  const same = { Protocol: "TCP", LoadBalancerPort: 80, InstanceProtocol: "TCP", InstancePort: 31080 };
  await bed.elb.send(new CreateLoadBalancerListenersCommand({ LoadBalancerName, Listeners: [same] }));
  const other = { ...same, InstancePort: 31081 };
  await refused(
    bed.elb.send(new CreateLoadBalancerListenersCommand({ LoadBalancerName, Listeners: [other] })),
    "DuplicateListenerException",
  );
  await bed.elb.send(new DeleteLoadBalancerListenersCommand({ LoadBalancerName, LoadBalancerPorts: [80, 9999] }));
  assert.deepEqual((await described(bed)).ListenerDescriptions, []);
});

test("secure listeners need a certificate that the account has, from ACM or IAM", async () => {
  const bed = await balancingBed();
  const create = (listener: Listener) =>
    bed.elb.send(classic(bed, { LoadBalancerName: `lb-${listener.LoadBalancerPort}`, Listeners: [listener] }));
  const { SSLCertificateId: _, ...bare } = SECURE;
  await refused(create(bare), "ValidationError");
  await refused(create({ ...SECURE, SSLCertificateId: CERTIFICATE.replace("1111", "9999") }), "CertificateNotFoundException");
  const iam = "arn:aws:iam::123456789012:server-certificate/mine";
  await refused(create({ ...SECURE, SSLCertificateId: iam }), "CertificateNotFoundException");
  bed.cloud.controls.change({ certificates: [iam] });
  await create({ ...SECURE, SSLCertificateId: iam });
});

test("setting a certificate on a missing port is ListenerNotFound", async () => {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed, { Listeners: [SECURE] }));
  const set = (LoadBalancerPort: number, SSLCertificateId: string) =>
    bed.elb.send(new SetLoadBalancerListenerSSLCertificateCommand({ LoadBalancerName, LoadBalancerPort, SSLCertificateId }));
  await refused(set(444, CERTIFICATE), "ListenerNotFoundException");
  await refused(set(443, `${CERTIFICATE}9`), "CertificateNotFoundException");
  await set(443, `${CERTIFICATE}-2`);
  assert.equal((await described(bed)).ListenerDescriptions?.[0]?.Listener?.SSLCertificateId, `${CERTIFICATE}-2`);
});

test("protocols of different layers, unknown protocols and ports, and an instance port both secure and not are refused", async () => {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed, { Listeners: [SECURE] }));
  const add = (listener: Listener) => bed.elb.send(new CreateLoadBalancerListenersCommand({ LoadBalancerName, Listeners: [listener] }));
  await refused(add({ Protocol: "UDP", LoadBalancerPort: 53, InstancePort: 30053 }), "UnsupportedProtocolException");
  await refused(add({ Protocol: "HTTP", InstanceProtocol: "TCP", LoadBalancerPort: 53, InstancePort: 30053 }), "ValidationError");
  await refused(add({ Protocol: "TCP", LoadBalancerPort: 0, InstancePort: 30053 }), "ValidationError");
  const mixed = { Protocol: "TCP", InstanceProtocol: "SSL", LoadBalancerPort: 444, InstancePort: 31443 };
  await refused(add(mixed), "InvalidConfigurationRequestException", 409);
});
