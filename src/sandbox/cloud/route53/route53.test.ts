import assert from "node:assert/strict";
import { test } from "node:test";
import { ACMClient, DescribeCertificateCommand, RequestCertificateCommand } from "@aws-sdk/client-acm";
import { clientConfig, type SdkClient } from "../../../aws/sdk/client.ts";
import { ChangeResourceRecordSetsCommand, Client, ListHostedZonesCommand, type RecordChange } from "../../../aws/sdk/route53.ts";
import { sdkConfig } from "../sdk-handler.ts";
import { cloudBed, refused } from "../testing.ts";
import { publicAnswer, zonesOf } from "./state.ts";

function bed(...zones: readonly { readonly id: string; readonly name: string; readonly isPrivate?: boolean }[]) {
  const made = cloudBed();
  for (const zone of zones) zonesOf(made.cloud.account).put(zone.id, { isPrivate: false, ...zone });
  const config = clientConfig({
    region: "eu-central-1",
    endpoint: { url: "http://aws.sandbox", fips: false, dualStack: false, source: "test" },
    credentials: async () => sdkConfig(made.cloud).credentials,
    transport: made.cloud.handle,
    now: made.world.clock.now,
    userAgent: ["test", "1"],
  });
  const client: SdkClient = new Client(config) as never;
  const attempt = { signal: new AbortController().signal, beforeSend: () => {}, sent: false };
  const send = (command: object) => client.send(command, { attempt });
  return {
    ...made,
    zones: (input: object = {}) => send(new ListHostedZonesCommand(input)),
    change: (zone: string, ...changes: RecordChange[]) =>
      send(new ChangeResourceRecordSetsCommand({ HostedZoneId: zone, ChangeBatch: { Changes: changes } })),
  };
}

const cname = (Action: RecordChange["Action"], Name: string, value = "there.example.org."): RecordChange => ({
  Action,
  ResourceRecordSet: { Name, Type: "CNAME", TTL: 60, ResourceRecords: [{ Value: value }] },
});

test("zones come in pages, private ones among them, with ids as AWS writes them", async () => {
  const { zones } = bed({ id: "Z1", name: "a.example.com." }, { id: "Z2", name: "b.example.com.", isPrivate: true });
  type Page = { HostedZones: { Id: string; Name: string; Config: { PrivateZone: boolean } }[]; NextMarker?: string; IsTruncated: boolean };
  const first = (await zones({ MaxItems: 1 })) as Page;
  assert.deepEqual(
    [first.HostedZones[0]?.Id, first.HostedZones[0]?.Config.PrivateZone, first.IsTruncated],
    ["/hostedzone/Z1", false, true],
  );
  const second = (await zones({ MaxItems: 1, Marker: first.NextMarker })) as Page;
  assert.deepEqual(
    [second.HostedZones[0]?.Name, second.HostedZones[0]?.Config.PrivateZone, second.IsTruncated],
    ["b.example.com.", true, false],
  );
});

test("records are written and taken away, all of a batch or none of it", async () => {
  const { change, cloud } = bed({ id: "Z1", name: "example.com." });
  await change("Z1", cname("CREATE", "<a>&.example.com"));
  assert.deepEqual(publicAnswer(cloud.account, "<a>&.example.com.", "CNAME"), ["there.example.org."]);
  await refused(change("Z1", cname("CREATE", "<a>&.example.com"), cname("CREATE", "b.example.com")), "InvalidChangeBatch");
  assert.deepEqual(publicAnswer(cloud.account, "b.example.com", "CNAME"), []);
  await change("Z1", cname("UPSERT", "<a>&.example.com", "elsewhere."));
  await refused(change("Z1", cname("DELETE", "<a>&.example.com")), "InvalidChangeBatch");
  await change("Z1", cname("DELETE", "<a>&.example.com", "elsewhere."));
  await refused(change("Z1", cname("DELETE", "<a>&.example.com", "elsewhere.")), "InvalidChangeBatch");
  await refused(change("Z1", cname("CREATE", "a.example.org")), "InvalidChangeBatch");
  await refused(change("Z9", cname("CREATE", "a.example.com")), "NoSuchHostedZone");
});

test("a certificate for names in a zone of the account is issued once its records stand there, and not before", async () => {
  const { change, cloud, world } = bed({ id: "Z1", name: "example.com." });
  const acm = new ACMClient(sdkConfig(cloud));
  const names = ["a.example.com", "b.example.com"];
  const asked = await acm.send(
    new RequestCertificateCommand({ DomainName: names[0], SubjectAlternativeNames: names, ValidationMethod: "DNS" }),
  );
  const now = async () =>
    (await acm.send(new DescribeCertificateCommand({ CertificateArn: asked.CertificateArn }))).Certificate as {
      Status: string;
      DomainValidationOptions: { ResourceRecord: { Name: string; Value: string } }[];
    };
  world.pass(600_000);
  const records = (await now()).DomainValidationOptions.map(({ ResourceRecord: { Name, Value } }) => cname("UPSERT", Name, Value));
  await change("Z1", records[0]!);
  world.pass(600_000);
  assert.equal((await now()).Status, "PENDING_VALIDATION");
  await change("Z1", ...records);
  world.pass(120_000);
  assert.equal((await now()).Status, "ISSUED");
});

test("a certificate whose records nobody writes is given up after three days", async () => {
  const { cloud, world } = bed({ id: "Z1", name: "example.com." });
  const acm = new ACMClient(sdkConfig(cloud));
  const asked = await acm.send(new RequestCertificateCommand({ DomainName: "a.example.com", ValidationMethod: "DNS" }));
  world.pass(73 * 3_600_000);
  const { Certificate } = await acm.send(new DescribeCertificateCommand({ CertificateArn: asked.CertificateArn }));
  assert.equal(Certificate?.Status, "VALIDATION_TIMED_OUT");
});
