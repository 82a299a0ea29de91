import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ACMClient,
  AddTagsToCertificateCommand,
  DeleteCertificateCommand,
  DescribeCertificateCommand,
  ImportCertificateCommand,
  ListCertificatesCommand,
  type ListCertificatesCommandInput,
  ListTagsForCertificateCommand,
  RemoveTagsFromCertificateCommand,
  RequestCertificateCommand,
  type RequestCertificateCommandInput,
} from "@aws-sdk/client-acm";
import { AddListenerCertificatesCommand, DeleteListenerCommand } from "@aws-sdk/client-elastic-load-balancing-v2";
import { issueCertificate } from "../../../runtime/x509.ts";
import { HTTPS, ruleBed, webListener } from "../elbv2/application-testing.ts";
import { sdkConfig } from "../sdk-handler.ts";
import { type CloudBed, cloudBed, refused } from "../testing.ts";

function bed<Bed extends CloudBed>(made: Bed) {
  const acm = new ACMClient(sdkConfig(made.cloud));
  return {
    ...made,
    acm,
    request: async (input: Partial<RequestCertificateCommandInput> = {}) =>
      (await acm.send(new RequestCertificateCommand({ DomainName: "a.example.com", ValidationMethod: "DNS", ...input }))).CertificateArn!,
    list: async (input: ListCertificatesCommandInput = {}) =>
      (await acm.send(new ListCertificatesCommand(input))).CertificateSummaryList!.map(({ DomainName }) => DomainName),
    describe: async (CertificateArn: string) => (await acm.send(new DescribeCertificateCommand({ CertificateArn }))).Certificate!,
  };
}

test("a certificate that was asked for is pending, tells its records after a while, and is issued later", async () => {
  const { request, describe, world } = bed(cloudBed());
  const arn = await request({ SubjectAlternativeNames: ["a.example.com", "*.example.com"] });
  const fresh = await describe(arn);
  assert.deepEqual(
    [fresh.Status, fresh.Type, fresh.SubjectAlternativeNames],
    ["PENDING_VALIDATION", "AMAZON_ISSUED", ["a.example.com", "*.example.com"]],
  );
  assert.equal(fresh.DomainValidationOptions?.[0]?.ResourceRecord, undefined);
  world.pass(5_000);
  const [own, any] = (await describe(arn)).DomainValidationOptions!;
  assert.match(own!.ResourceRecord!.Name!, /^_[0-9a-f]{32}\.a\.example\.com\.$/);
  assert.match(any!.ResourceRecord!.Name!, /^_[0-9a-f]{32}\.example\.com\.$/);
  world.pass(120_000);
  const issued = await describe(arn);
  assert.deepEqual([issued.Status, issued.DomainValidationOptions?.[0]?.ValidationStatus], ["ISSUED", "SUCCESS"]);
});

test("a certificate of a private authority is issued at once, and one whose records nobody writes never", async () => {
  const { request, describe, world, cloud } = bed(cloudBed({ settings: { certificateValidationMs: undefined } }));
  const authority = "arn:aws:acm-pca:us-east-1:123456789012:certificate-authority/1";
  const [mine, theirs] = [await request({ CertificateAuthorityArn: authority }), await request()];
  world.pass(86_400_000);
  assert.deepEqual([(await describe(mine)).Status, (await describe(mine)).Type], ["ISSUED", "PRIVATE"]);
  assert.equal((await describe(mine)).CertificateAuthorityArn, authority);
  assert.equal((await describe(theirs)).Status, "PENDING_VALIDATION");
  assert.equal(cloud.controls.settings().certificateValidationMs, undefined);
});

test("lists come in pages, by status, and show other keys than RSA 1024 and 2048 only to those who ask", async () => {
  const { acm, request, list, world } = bed(cloudBed());
  await request({ DomainName: "old.example.com" });
  world.pass(200_000);
  await request({ DomainName: "new.example.com" });
  await request({ DomainName: "ec.example.com", KeyAlgorithm: "EC_prime256v1" });
  assert.deepEqual((await list()).sort(), ["new.example.com", "old.example.com"]);
  assert.deepEqual(await list({ CertificateStatuses: ["ISSUED"] }), ["old.example.com"]);
  assert.deepEqual((await list({ Includes: { keyTypes: ["RSA_2048", "EC_prime256v1"] } })).length, 3);
  const first = await acm.send(new ListCertificatesCommand({ MaxItems: 1 }));
  const second = await acm.send(new ListCertificatesCommand({ MaxItems: 1, NextToken: first.NextToken }));
  assert.equal(second.CertificateSummaryList?.length, 1);
  assert.notEqual(second.CertificateSummaryList?.[0]?.CertificateArn, first.CertificateSummaryList?.[0]?.CertificateArn);
  assert.equal(second.NextToken, undefined);
  await refused(list({ MaxItems: 1001 }), "ValidationException");
});

test("requests that AWS does not take are refused, and a repeated token means the same certificate for an hour", async () => {
  const { request, world } = bed(cloudBed());
  await refused(request({ DomainName: "localhost" }), "ValidationException");
  const many = Array.from({ length: 10 }, (_, index) => `h${index}.example.com`);
  await refused(request({ SubjectAlternativeNames: many }), "LimitExceededException");
  const first = await request({ IdempotencyToken: "t" });
  assert.equal(await request({ IdempotencyToken: "t" }), first);
  world.pass(3_600_001);
  assert.notEqual(await request({ IdempotencyToken: "t" }), first);
});

test("unknown and malformed ARNs are told apart", async () => {
  const { describe, request } = bed(cloudBed());
  const arn = await request();
  await refused(describe(arn.replace(/.{4}$/, "ffff")), "ResourceNotFoundException");
  await refused(describe("certificate"), "InvalidArnException");
});

test("a certificate in use names the load balancers that use it and cannot be deleted; listeners take issued ones only", async () => {
  const made = bed(await ruleBed({}, HTTPS));
  const { acm, elbv2, request, describe, world, web, lb } = made;
  const CertificateArn = await request();
  const add = () => elbv2.send(new AddListenerCertificatesCommand({ ListenerArn: web.ListenerArn, Certificates: [{ CertificateArn }] }));
  await refused(add(), "UnsupportedCertificate");
  world.pass(120_000);
  await add();
  const other = await webListener(made, lb, { ...HTTPS, Port: 8443, Certificates: [{ CertificateArn }] });
  assert.deepEqual((await describe(CertificateArn)).InUseBy, [lb.LoadBalancerArn]);
  await refused(acm.send(new DeleteCertificateCommand({ CertificateArn })), "ResourceInUseException");
  for (const { ListenerArn } of [web, other]) await elbv2.send(new DeleteListenerCommand({ ListenerArn }));
  assert.deepEqual((await describe(CertificateArn)).InUseBy, []);
  await acm.send(new DeleteCertificateCommand({ CertificateArn }));
  await refused(describe(CertificateArn), "ResourceNotFoundException");
});

test("an imported certificate is issued, for the names in it", async () => {
  const { acm, describe, world } = bed(cloudBed());
  const notAfter = Date.UTC(2030, 0, 1);
  const pair = issueCertificate(world.random, {
    commonName: "shop.example.com",
    usage: "server",
    hosts: ["shop.example.com", "*.shop.example.com"],
    notBefore: new Date(Date.UTC(2025, 0, 1)),
    notAfter: new Date(notAfter),
  });
  const { CertificateArn } = await acm.send(
    new ImportCertificateCommand({ Certificate: Buffer.from(pair.cert), PrivateKey: Buffer.from(pair.key) }),
  );
  const told = await describe(CertificateArn!);
  assert.deepEqual(
    [told.Type, told.Status, told.SubjectAlternativeNames],
    ["IMPORTED", "ISSUED", ["shop.example.com", "*.shop.example.com"]],
  );
  assert.equal(told.NotAfter?.getTime(), notAfter);
  await refused(
    acm.send(new ImportCertificateCommand({ Certificate: Buffer.from("x"), PrivateKey: Buffer.from("y") })),
    "ValidationException",
  );
});

test("certificates are tagged; a request with tags needs the permission to add them", async () => {
  const { acm, request, cloud } = bed(cloudBed());
  const Tags = [{ Key: "team", Value: "shop" }];
  const lift = cloud.controls.deny("acm:AddTagsToCertificate");
  await refused(request({ Tags }), "AccessDeniedException");
  await request();
  lift();
  const CertificateArn = await request({ Tags });
  await acm.send(new AddTagsToCertificateCommand({ CertificateArn, Tags: [{ Key: "stage", Value: "prod" }] }));
  const tags = async () => (await acm.send(new ListTagsForCertificateCommand({ CertificateArn }))).Tags;
  assert.deepEqual(await tags(), [...Tags, { Key: "stage", Value: "prod" }]);
  await acm.send(new RemoveTagsFromCertificateCommand({ CertificateArn, Tags: [{ Key: "stage" }, { Key: "team", Value: "other" }] }));
  assert.deepEqual(await tags(), Tags);
});

test("a policy can speak of a certificate's tags", async () => {
  const { acm, request, cloud } = bed(cloudBed());
  const [mine, theirs] = [await request({ Tags: [{ Key: "cluster", Value: "a" }] }), await request()];
  const condition = { StringEquals: { "aws:ResourceTag/cluster": "a" } };
  cloud.controls.change({ policy: [{ effect: "allow", actions: ["acm:DeleteCertificate"], condition }] });
  await refused(acm.send(new DeleteCertificateCommand({ CertificateArn: theirs })), "AccessDeniedException");
  await acm.send(new DeleteCertificateCommand({ CertificateArn: mine }));
});
