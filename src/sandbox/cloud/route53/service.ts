/** Route 53, as far as domains are proven with it. */
import { requestedRegion } from "../../../aws/global-services.ts";
import {
  ChangeResourceRecordSets$,
  type ChangeResourceRecordSetsRequest,
  ListHostedZones$,
  type ListHostedZonesRequest,
  type RecordChange,
} from "../../../aws/sdk/route53.ts";
import type { Account } from "../account.ts";
import { proveDomains } from "../acm/validation.ts";
import { ServiceError } from "../errors.ts";
import { restXml } from "../protocol/protocol.ts";
import { read, type Service, write } from "../service.ts";
import { tokenPage } from "../token-pages.ts";
import { absolute, isWithin, type RecordSet, recordKey, recordsOf, type Zone, zonesOf } from "./state.ts";

const MAX_PAGE = 100;

/** The service. It lives in one region for the whole partition. */
export function route53Service(account: Account): Service {
  return {
    name: "route53",
    signingName: "route53",
    address: { path: "/2013-04-01/" },
    region: { only: requestedRegion("route53", account.region) },
    protocol: restXml("https://route53.amazonaws.com/doc/2013-04-01/"),
    operations: [
      read<ListHostedZonesRequest, object>(ListHostedZones$, (input) => listZones(account, input)),
      write<ChangeResourceRecordSetsRequest, object>(ChangeResourceRecordSets$, (input) => changeRecords(account, input)),
    ],
  };
}

function listZones(account: Account, { Marker, MaxItems }: ListHostedZonesRequest): object {
  const refuse = (message: string) => new ServiceError("InvalidInput", message);
  const size = Math.min(MaxItems ?? MAX_PAGE, MAX_PAGE);
  const page = tokenPage(account, zonesOf(account).values(), ({ id }) => id, { token: Marker, size, maxSize: MAX_PAGE, refuse });
  return {
    HostedZones: page.items.map(({ id, name, isPrivate }) => ({
      Id: `/hostedzone/${id}`,
      Name: name,
      CallerReference: id,
      Config: { PrivateZone: isPrivate },
    })),
    ...(Marker && { Marker }),
    IsTruncated: page.next !== undefined,
    MaxItems: size,
    ...(page.next && { NextMarker: page.next }),
  };
}

/** All changes, or none. */
function changeRecords(account: Account, { HostedZoneId: id, ChangeBatch }: ChangeResourceRecordSetsRequest): object {
  const zone = zonesOf(account).get(id.replace(/^\/?hostedzone\//, ""));
  if (zone === undefined) throw new ServiceError("NoSuchHostedZone", `No hosted zone found with ID: ${id}`, 404);
  const refused = ChangeBatch.Changes.flatMap((change) => refusal(account, zone, change) ?? []);
  if (refused.length > 0) throw new ServiceError("InvalidChangeBatch", `[${refused.join(", ")}]`);
  for (const change of ChangeBatch.Changes) {
    const record = recordOf(zone, change);
    if (change.Action === "DELETE") recordsOf(account).delete(recordKey(record));
    else recordsOf(account).put(recordKey(record), record);
  }
  proveDomains(account);
  return { ChangeInfo: { Id: `/change/${account.ids.uuid()}`, Status: "PENDING" } };
}

function refusal(account: Account, zone: Zone, change: RecordChange): string | undefined {
  const record = recordOf(zone, change);
  if (!isWithin(record.name, zone.name)) return `RRSet with DNS name ${record.name} is not permitted in zone ${zone.name}`;
  const present = recordsOf(account).get(recordKey(record));
  const set = `resource record set [name='${record.name}', type='${record.type}']`;
  if (change.Action === "CREATE") return present && `Tried to create ${set} but it already exists`;
  if (change.Action !== "DELETE") return undefined;
  if (present === undefined) return `Tried to delete ${set} but it was not found`;
  const isSame = present.values.join() === record.values.join() && present.ttl === record.ttl;
  return isSame ? undefined : `Tried to delete ${set} but the values provided do not match the current values`;
}

function recordOf(zone: Zone, { ResourceRecordSet: set }: RecordChange): RecordSet {
  return { zone: zone.id, name: absolute(set.Name), type: set.Type, ttl: set.TTL, values: set.ResourceRecords.map(({ Value }) => Value) };
}
