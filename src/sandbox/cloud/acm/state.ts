/** What Certificate Manager keeps. */
import type { CertificateStatus, CertificateType, KeyAlgorithm } from "@aws-sdk/client-acm";
import type { Account } from "../account.ts";
import type { Tags } from "../balancing/tags.ts";
import { ServiceError } from "../errors.ts";
import type { Table } from "../store.ts";

/** A certificate, issued or on its way. */
export interface Certificate {
  readonly arn: string;
  readonly type: CertificateType;
  readonly status: CertificateStatus;
  readonly domain: string;
  /** Every name it is for, its domain among them. */
  readonly names: readonly string[];
  readonly keyAlgorithm: KeyAlgorithm;
  readonly authorityArn: string | undefined;
  readonly created: number;
  readonly issued: number | undefined;
  /** Whether the records that prove the domain are known yet. */
  readonly recordsKnown: boolean;
  readonly idempotencyToken: string | undefined;
  /** Of one that was imported: what it was imported from. */
  readonly imported: { readonly certificate: string; readonly key: string; readonly notAfter: number } | undefined;
  readonly tags: Tags;
}

/** The account's certificates, by ARN. */
export function certificatesOf(account: Account): Table<Certificate> {
  return account.store.table("acm/certificates");
}

/** The certificate of an ARN. */
export function certificateAt(account: Account, arn: string | undefined): Certificate {
  if (!/^arn:[a-z-]+:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/.test(arn ?? "")) {
    throw new ServiceError("InvalidArnException", `Invalid ARN: ${arn}`);
  }
  const found = certificatesOf(account).get(arn!);
  if (found === undefined) {
    throw new ServiceError("ResourceNotFoundException", `Could not find certificate ${arn} in account ${account.id}`);
  }
  return found;
}
