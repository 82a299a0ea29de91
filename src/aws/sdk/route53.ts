/** Route 53, as far as it proves that domains are ours. Its own SDK client would be a dependency for two calls. */
import { AwsRestXmlProtocol } from "@aws-sdk/core/protocols";
import type { StaticOperationSchema } from "@smithy/types";
import { type BorrowedService, boolean, borrowedClient, commandsOf, integer, schemasOf, text } from "./borrowed-client.ts";

/** The service is one for a whole partition; requests are signed for the region in which it lives there. */
const homes: Readonly<Record<string, { readonly region: string; readonly host: string }>> = {
  aws: { region: "us-east-1", host: "route53.amazonaws.com" },
  "aws-cn": { region: "cn-northwest-1", host: "route53.amazonaws.com.cn" },
  "aws-us-gov": { region: "us-gov-west-1", host: "route53.us-gov.amazonaws.com" },
  "aws-iso": { region: "us-iso-east-1", host: "route53.c2s.ic.gov" },
  "aws-iso-b": { region: "us-isob-east-1", host: "route53.sc2s.sgov.gov" },
  "aws-iso-e": { region: "eu-isoe-west-1", host: "route53.cloud.adc-e.uk" },
  "aws-iso-f": { region: "us-isof-south-1", host: "route53.csp.hci.ic.gov" },
  "aws-eusc": { region: "eusc-de-east-1", host: "route53.amazonaws.eu" },
};

const service: BorrowedService = {
  serviceId: "Route 53",
  signingName: "route53",
  namespace: "com.amazonaws.route53",
  target: "AWSDnsV20130401",
  protocol: {
    protocol: AwsRestXmlProtocol,
    settings: { xmlNamespace: "https://route53.amazonaws.com/doc/2013-04-01/", version: "2013-04-01" },
  },
  home({ name }, fips) {
    const home = homes[name]!;
    return fips && name === "aws" ? { ...home, host: "route53-fips.amazonaws.com" } : home;
  },
};
const { struct, listOf, operation } = schemasOf(service);
const command = commandsOf(service);

export const Client = borrowedClient(service);

const zone$ = struct("HostedZone", {
  Id: text,
  Name: text,
  CallerReference: text,
  Config: struct("HostedZoneConfig", { Comment: text, PrivateZone: boolean }),
});
const record$ = struct("ResourceRecordSet", {
  Name: text,
  Type: text,
  TTL: integer,
  ResourceRecords: listOf("ResourceRecords", struct("ResourceRecord", { Value: text }, 1), "ResourceRecord"),
});
const batch$ = struct("ChangeBatch", {
  Changes: listOf("Changes", struct("Change", { Action: text, ResourceRecordSet: record$ }, 2), "Change"),
  Comment: text,
});

export const ListHostedZones$: StaticOperationSchema = operation(
  "ListHostedZones",
  struct("ListHostedZonesRequest", { Marker: [text, { httpQuery: "marker" }], MaxItems: [integer, { httpQuery: "maxitems" }] }),
  struct("ListHostedZonesResponse", {
    HostedZones: listOf("HostedZones", zone$, "HostedZone"),
    Marker: text,
    IsTruncated: boolean,
    MaxItems: integer,
    NextMarker: text,
  }),
  ["GET", "/2013-04-01/hostedzone", 200],
);
export const ChangeResourceRecordSets$: StaticOperationSchema = operation(
  "ChangeResourceRecordSets",
  struct("ChangeResourceRecordSetsRequest", { HostedZoneId: [text, { httpLabel: 1 }], ChangeBatch: batch$ }, 2),
  struct("ChangeResourceRecordSetsResponse", { ChangeInfo: struct("ChangeInfo", { Id: text, Status: text }) }),
  ["POST", "/2013-04-01/hostedzone/{HostedZoneId}/rrset", 200],
);

export interface HostedZone {
  readonly Id?: string;
  readonly Name?: string;
  readonly Config?: { readonly PrivateZone?: boolean };
}

export interface ListHostedZonesRequest {
  readonly Marker?: string;
  readonly MaxItems?: number;
}

export interface ListHostedZonesResponse {
  readonly HostedZones?: readonly HostedZone[];
  readonly IsTruncated?: boolean;
  readonly NextMarker?: string;
}

export interface RecordChange {
  readonly Action: "CREATE" | "UPSERT" | "DELETE";
  readonly ResourceRecordSet: {
    readonly Name: string;
    readonly Type: string;
    readonly TTL: number;
    readonly ResourceRecords: readonly { readonly Value: string }[];
  };
}

export interface ChangeResourceRecordSetsRequest {
  readonly HostedZoneId: string;
  readonly ChangeBatch: { readonly Changes: readonly RecordChange[]; readonly Comment?: string };
}

export const ListHostedZonesCommand = command<ListHostedZonesRequest, ListHostedZonesResponse>(ListHostedZones$);
export const ChangeResourceRecordSetsCommand = command<ChangeResourceRecordSetsRequest, object>(ChangeResourceRecordSets$);
