import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AddListenerCertificatesCommand,
  AddTrustStoreRevocationsCommand,
  CreateTrustStoreCommand,
  DeleteTrustStoreCommand,
  DescribeListenerAttributesCommand,
  DescribeListenerCertificatesCommand,
  DescribeListenersCommand,
  DescribeTrustStoreAssociationsCommand,
  DescribeTrustStoreRevocationsCommand,
  DescribeTrustStoresCommand,
  ModifyListenerAttributesCommand,
  ModifyListenerCommand,
  type MutualAuthenticationAttributes,
  RemoveTrustStoreRevocationsCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { type BalancingBed, CERTIFICATE } from "../balancing/testing.ts";
import { refused } from "../testing.ts";
import { HTTPS, NOT_FOUND, rule, ruleBed, webListener } from "./application-testing.ts";
import { group, listener } from "./testing.ts";

test("plain listeners tell of no security policy, no ALPN policy and no mutual authentication; HTTPS ones have AWS's defaults", async () => {
  const bed = await ruleBed();
  assert.deepEqual([bed.web.SslPolicy, bed.web.AlpnPolicy, bed.web.MutualAuthentication, bed.web.Certificates], Array(4).fill(undefined));
  const secure = await webListener(bed, bed.lb, HTTPS);
  assert.equal(secure.SslPolicy, "ELBSecurityPolicy-2016-08");
  assert.deepEqual(secure.MutualAuthentication, { Mode: "off" });
  assert.deepEqual(secure.Certificates, HTTPS.Certificates);
});

test("an application load balancer listens for HTTP and HTTPS, with what each needs", async () => {
  const bed = await ruleBed();
  const tg = await group(bed, { Name: "tcp" });
  assert.match(await refused(listener(bed, bed.lb, tg, { Port: 81 }), "ValidationError"), /'TCP' must be one of '.*HTTP/);
  await refused(webListener(bed, bed.lb, { Protocol: "HTTPS", Port: 443 }), "ValidationError");
  await refused(webListener(bed, bed.lb, { ...HTTPS, SslPolicy: "ELBSecurityPolicy-1999" }), "SSLPolicyNotFoundException");
  await refused(webListener(bed, bed.lb, { ...HTTPS, AlpnPolicy: ["HTTP2Optional"] }), "ALPNPolicyNotSupportedException");
  await refused(webListener(bed, bed.lb, { ...HTTPS, Protocol: "HTTP" }), "InvalidConfigurationRequestException");
  await refused(webListener(bed, bed.lb, { DefaultActions: [] }), "ValidationError");
  await refused(
    webListener(bed, bed.lb, { DefaultActions: [{ ...NOT_FOUND, FixedResponseConfig: { StatusCode: "503" } }] }),
    "DuplicateListenerException",
  );
});

test("a listener is modified in place: its protocol, its certificate and its policy", async () => {
  const bed = await ruleBed();
  const modify = async (input: object) =>
    (await bed.elbv2.send(new ModifyListenerCommand({ ListenerArn: bed.web.ListenerArn, ...input }))).Listeners![0]!;
  const secured = await modify({ ...HTTPS, SslPolicy: "ELBSecurityPolicy-TLS13-1-2-2021-06" });
  assert.deepEqual([secured.Protocol, secured.Port, secured.SslPolicy], ["HTTPS", 443, "ELBSecurityPolicy-TLS13-1-2-2021-06"]);
  const other = await modify({ Certificates: [{ CertificateArn: `${CERTIFICATE}-b` }] });
  assert.deepEqual(
    [other.Certificates, other.SslPolicy],
    [[{ CertificateArn: `${CERTIFICATE}-b` }], "ELBSecurityPolicy-TLS13-1-2-2021-06"],
  );
  const jwt = { JwksEndpoint: "https://id.example.com/keys", Issuer: "id" };
  await rule(bed, bed.web, 1, {
    Actions: [
      { Type: "jwt-validation", Order: 1, JwtValidationConfig: jwt },
      { ...NOT_FOUND, Order: 2 },
    ],
  });
  await refused(modify({ Protocol: "HTTP" }), "InvalidLoadBalancerActionException");
});

test("certificates beside the default ones are 25 per load balancer, over its listeners", async () => {
  const bed = await ruleBed({}, HTTPS);
  const other = await webListener(bed, bed.lb, { ...HTTPS, Port: 8443 });
  const add = (ListenerArn: string | undefined, count: number, from = 0) => {
    const Certificates = Array.from({ length: count }, (_, index) => ({ CertificateArn: `${CERTIFICATE}-${from + index}` }));
    return bed.elbv2.send(new AddListenerCertificatesCommand({ ListenerArn, Certificates }));
  };
  await add(bed.web.ListenerArn, 20);
  await bed.elbv2.send(new AddListenerCertificatesCommand({ ListenerArn: bed.web.ListenerArn, Certificates: HTTPS.Certificates }));
  await add(other.ListenerArn, 5, 20);
  await refused(add(other.ListenerArn, 1, 25), "TooManyCertificatesException");
  const { Certificates } = await bed.elbv2.send(new DescribeListenerCertificatesCommand({ ListenerArn: bed.web.ListenerArn }));
  assert.deepEqual([Certificates?.length, Certificates?.filter(({ IsDefault }) => IsDefault).length], [22, 1]);
});

test("listeners of each protocol have attributes of their own; unknown keys are refused", async () => {
  const bed = await ruleBed();
  const secure = await webListener(bed, bed.lb, HTTPS);
  const all = async (ListenerArn: string | undefined) => {
    const { Attributes } = await bed.elbv2.send(new DescribeListenerAttributesCommand({ ListenerArn }));
    return Object.fromEntries(Attributes!.map(({ Key, Value }) => [Key, Value]));
  };
  const set = (ListenerArn: string | undefined, Key: string, Value: string) =>
    bed.elbv2.send(new ModifyListenerAttributesCommand({ ListenerArn, Attributes: [{ Key, Value }] }));
  const plain = await all(bed.web.ListenerArn);
  assert.equal(plain["routing.http.response.server.enabled"], "true");
  assert.equal(plain["routing.http.response.strict_transport_security.header_value"], "");
  assert.equal(Object.keys(plain).length, 11);
  const mtls = "routing.http.request.x_amzn_mtls_clientcert_serial_number.header_name";
  assert.equal((await all(secure.ListenerArn))[mtls], "X-Amzn-Mtls-Clientcert-Serial-Number");
  await set(secure.ListenerArn, mtls, "X-Serial");
  await refused(set(bed.web.ListenerArn, mtls, "X-Serial"), "InvalidConfigurationRequestException");
  await refused(set(bed.web.ListenerArn, "tcp.idle_timeout.seconds", "60"), "InvalidConfigurationRequestException");
  await refused(
    set(bed.web.ListenerArn, "routing.http.response.x_frame_options.header_value", "MAYBE"),
    "InvalidConfigurationRequestException",
  );
});

async function trustStore(bed: BalancingBed, Name: string): Promise<string> {
  const bundle = { CaCertificatesBundleS3Bucket: "authorities", CaCertificatesBundleS3Key: "ca.pem" };
  return (await bed.elbv2.send(new CreateTrustStoreCommand({ Name, ...bundle }))).TrustStores![0]!.TrustStoreArn!;
}

test("trust stores: made, found by name, used by listeners, and not deleted while in use", async () => {
  const bed = await ruleBed({}, HTTPS);
  const arn = await trustStore(bed, "clients");
  assert.match(arn, /:truststore\/clients\/[0-9a-f]{16}$/);
  await refused(trustStore(bed, "clients"), "DuplicateTrustStoreNameException");
  const verify: MutualAuthenticationAttributes = { Mode: "verify", TrustStoreArn: arn };
  const set = async (MutualAuthentication: MutualAuthenticationAttributes) => {
    const changed = await bed.elbv2.send(new ModifyListenerCommand({ ListenerArn: bed.web.ListenerArn, MutualAuthentication }));
    return changed.Listeners?.[0]?.MutualAuthentication;
  };
  await refused(set(verify), "TrustStoreNotReadyException");
  bed.world.pass(10_000);
  assert.deepEqual(await set(verify), {
    Mode: "verify",
    TrustStoreArn: arn,
    IgnoreClientCertificateExpiry: false,
    TrustStoreAssociationStatus: "active",
    AdvertiseTrustStoreCaNames: "off",
  });
  const { TrustStores } = await bed.elbv2.send(new DescribeTrustStoresCommand({ Names: ["clients"] }));
  assert.deepEqual([TrustStores?.[0]?.TrustStoreArn, TrustStores?.[0]?.Status], [arn, "ACTIVE"]);
  await refused(bed.elbv2.send(new DescribeTrustStoresCommand({ Names: ["clients", "others"] })), "TrustStoreNotFoundException");
  const used = await bed.elbv2.send(new DescribeTrustStoreAssociationsCommand({ TrustStoreArn: arn }));
  assert.deepEqual(used.TrustStoreAssociations, [{ ResourceArn: bed.web.ListenerArn }]);
  await refused(bed.elbv2.send(new DeleteTrustStoreCommand({ TrustStoreArn: arn })), "TrustStoreInUseException");
  assert.deepEqual(await set({ Mode: "off" }), { Mode: "off" });
  await bed.elbv2.send(new DeleteTrustStoreCommand({ TrustStoreArn: arn }));
  await refused(set(verify), "TrustStoreNotFoundException");
});

test("mutual authentication that AWS does not take is refused, and a third verifying listener too", async () => {
  const bed = await ruleBed({}, HTTPS);
  const arn = await trustStore(bed, "clients");
  bed.world.pass(10_000);
  const make = (Port: number, MutualAuthentication: MutualAuthenticationAttributes) =>
    webListener(bed, bed.lb, { ...HTTPS, Port, MutualAuthentication });
  await refused(make(1, { Mode: "verify" }), "InvalidConfigurationRequestException");
  await refused(make(1, { Mode: "passthrough", TrustStoreArn: arn }), "InvalidConfigurationRequestException");
  await refused(make(1, { Mode: "off", IgnoreClientCertificateExpiry: true }), "InvalidConfigurationRequestException");
  await refused(make(1, { Mode: "maybe" }), "ValidationError");
  const plain = webListener(bed, bed.lb, { Port: 81, MutualAuthentication: { Mode: "off" } });
  await refused(plain, "InvalidConfigurationRequestException");
  await make(1, { Mode: "verify", TrustStoreArn: arn, AdvertiseTrustStoreCaNames: "on" });
  await make(2, { Mode: "verify", TrustStoreArn: arn });
  await refused(make(3, { Mode: "verify", TrustStoreArn: arn }), "InvalidConfigurationRequestException");
  await make(3, { Mode: "passthrough" });
  const { Listeners } = await bed.elbv2.send(new DescribeListenersCommand({ LoadBalancerArn: bed.lb.LoadBalancerArn }));
  assert.equal(Listeners?.find(({ Port }) => Port === 1)?.MutualAuthentication?.AdvertiseTrustStoreCaNames, "on");
});

test("trust stores hold lists of revoked certificates, each under a number of its own", async () => {
  const bed = await ruleBed();
  const TrustStoreArn = await trustStore(bed, "clients");
  const list = (S3Key: string) => ({ S3Bucket: "authorities", S3Key });
  const add = (...keys: string[]) =>
    bed.elbv2.send(new AddTrustStoreRevocationsCommand({ TrustStoreArn, RevocationContents: keys.map(list) }));
  const ids = async () =>
    (await bed.elbv2.send(new DescribeTrustStoreRevocationsCommand({ TrustStoreArn }))).TrustStoreRevocations!.map(
      ({ RevocationId }) => RevocationId,
    );
  await add("a.crl", "b.crl");
  await bed.elbv2.send(new RemoveTrustStoreRevocationsCommand({ TrustStoreArn, RevocationIds: [1] }));
  await add("c.crl");
  assert.deepEqual(await ids(), [2, 3]);
  assert.equal((await bed.elbv2.send(new DescribeTrustStoresCommand({}))).TrustStores![0]!.TotalRevokedEntries, 2);
  const again = bed.elbv2.send(new RemoveTrustStoreRevocationsCommand({ TrustStoreArn, RevocationIds: [1] }));
  await refused(again, "RevocationIdNotFoundException");
});
