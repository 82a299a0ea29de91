/** Certificates as listeners use them: those of Certificate Manager, and those that the settings speak of. */
import type { Account } from "../account.ts";
import { certificatesOf } from "../acm/state.ts";
import { ServiceError } from "../errors.ts";
import { matches } from "../wildcard.ts";

const CERTIFICATE_ARN = /^arn:[a-z-]+:(acm:[a-z0-9-]+:\d{12}:certificate\/|iam::\d{12}:server-certificate\/).+$/;

/** Refuses a certificate that the account does not have, or that is not issued yet. */
export function checkCertificate(account: Account, arn: string): string {
  if (!CERTIFICATE_ARN.test(arn)) {
    throw new ServiceError("ValidationError", `Certificate ARN '${arn}' is not valid`);
  }
  const { certificates, unsupportedCertificates } = account.settings();
  const among = (patterns: readonly string[]) => patterns.some((pattern) => matches(pattern, arn));
  const own = certificatesOf(account).get(arn);
  if (among(unsupportedCertificates) || (own !== undefined && own.status !== "ISSUED")) {
    const needs = "must have a fully-qualified domain name, a supported signature, and a supported key size";
    throw new ServiceError("UnsupportedCertificate", `The certificate '${arn}' ${needs}.`);
  }
  if (own === undefined && !among(certificates)) throw new ServiceError("CertificateNotFound", `Certificate '${arn}' not found`);
  return arn;
}

interface Listening {
  readonly loadBalancerArn: string;
  readonly certificate: string | undefined;
  readonly moreCertificates: readonly string[];
}

interface Classic {
  readonly name: string;
  readonly listeners: readonly { readonly certificate: string | undefined }[];
}

/** The ARNs of the load balancers whose listeners use a certificate, each once. */
export function usersOfCertificate(account: Account, arn: string): readonly string[] {
  const { store, partition, region, id } = account;
  const listening = store.table<Listening>("elbv2/listeners").values();
  const users = listening.filter((listener) => listener.certificate === arn || listener.moreCertificates.includes(arn));
  const classics = store
    .table<Classic>("elb/load-balancers")
    .values()
    .filter(({ listeners }) => listeners.some(({ certificate }) => certificate === arn))
    .map(({ name }) => `arn:${partition}:elasticloadbalancing:${region}:${id}:loadbalancer/${name}`);
  return [...new Set([...users.map(({ loadBalancerArn }) => loadBalancerArn), ...classics])];
}
