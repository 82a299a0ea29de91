import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { matches } from "../wildcard.ts";

const CERTIFICATE_ARN = /^arn:[a-z-]+:(acm:[a-z0-9-]+:\d{12}:certificate\/|iam::\d{12}:server-certificate\/).+$/;

/** Refuses a certificate that the account does not have: its settings say which there are. */
export function checkCertificate(account: Account, arn: string): string {
  if (!CERTIFICATE_ARN.test(arn)) {
    throw new ServiceError("ValidationError", `Certificate ARN '${arn}' is not valid`);
  }
  const { certificates, unsupportedCertificates } = account.settings();
  const among = (patterns: readonly string[]) => patterns.some((pattern) => matches(pattern, arn));
  if (among(unsupportedCertificates)) {
    const needs = "must have a fully-qualified domain name, a supported signature, and a supported key size";
    throw new ServiceError("UnsupportedCertificate", `The certificate '${arn}' ${needs}.`);
  }
  if (!among(certificates)) throw new ServiceError("CertificateNotFound", `Certificate '${arn}' not found`);
  return arn;
}
