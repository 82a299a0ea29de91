import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { matches } from "../wildcard.ts";

const CERTIFICATE_ARN = /^arn:[a-z-]+:(acm:[a-z0-9-]+:\d{12}:certificate\/|iam::\d{12}:server-certificate\/).+$/;

/** Refuses a certificate that the account does not have: its settings say which there are. */
export function checkCertificate(account: Account, arn: string): string {
  if (!CERTIFICATE_ARN.test(arn)) {
    throw new ServiceError("ValidationError", `Certificate ARN '${arn}' is not valid`);
  }
  if (!account.settings().certificates.some((pattern) => matches(pattern, arn))) {
    throw new ServiceError("CertificateNotFound", `Certificate '${arn}' not found`);
  }
  return arn;
}
