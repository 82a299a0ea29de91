/** How certificates come into the account: asked of AWS, which takes time, or brought along. */
import { X509Certificate } from "node:crypto";
import type { ImportCertificateRequest, KeyAlgorithm, RequestCertificateRequest } from "@aws-sdk/client-acm";
import { type Account, arn } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { type Certificate, certificateAt, certificatesOf } from "./state.ts";
import { withTags } from "./tags.ts";
import { proveDomains, VALIDATION_LIMIT_MS } from "./validation.ts";

/** How long AWS takes to say which records prove a domain. */
const RECORDS_MS = 5_000;
/** How long a private authority takes to sign. */
const PRIVATE_MS = 2_000;
/** Within this time the same token means the same request. */
const TOKEN_MS = 3_600_000;
const KEY_ALGORITHMS: readonly KeyAlgorithm[] = [
  "RSA_1024",
  "RSA_2048",
  "RSA_3072",
  "RSA_4096",
  "EC_prime256v1",
  "EC_secp384r1",
  "EC_secp521r1",
];

/** A new certificate: pending until its domains are proven. */
export function requestCertificate(account: Account, input: RequestCertificateRequest): Certificate {
  const table = certificatesOf(account);
  const { time } = account;
  const domain = checkedDomain(input.DomainName ?? "");
  const names = [...new Set([domain, ...(input.SubjectAlternativeNames ?? []).map(checkedDomain)])];
  const limit = account.settings().quotas.namesPerCertificate;
  if (names.length > limit) {
    throw new ServiceError("LimitExceededException", `Error: you have exceeded the limit of ${limit} domain names per certificate.`);
  }
  const token = input.IdempotencyToken;
  const known = table
    .values()
    .find((other) => token !== undefined && other.idempotencyToken === token && time.now() - other.created < TOKEN_MS);
  if (known !== undefined && known.names.join() === names.join()) return known;
  const authorityArn = input.CertificateAuthorityArn;
  const made: Certificate = {
    arn: arn(account, "acm", `certificate/${account.ids.uuid()}`),
    type: authorityArn === undefined ? "AMAZON_ISSUED" : "PRIVATE",
    status: "PENDING_VALIDATION",
    domain,
    names,
    keyAlgorithm: input.KeyAlgorithm ?? "RSA_2048",
    authorityArn,
    created: time.now(),
    issued: undefined,
    recordsKnown: false,
    idempotencyToken: token,
    imported: undefined,
    tags: withTags({}, input.Tags),
  };
  table.put(made.arn, made);
  const later = (ms: number, change: (now: Certificate) => Partial<Certificate>) =>
    time.after(ms, () => {
      const now = table.get(made.arn);
      if (now !== undefined) table.update(made.arn, change(now));
    });
  if (authorityArn === undefined) {
    later(RECORDS_MS, () => ({ recordsKnown: true }));
    // Its full time, however fast the cloud is: else it would be over before anybody could prove anything.
    time.forgetAfter(VALIDATION_LIMIT_MS, () => {
      if (table.get(made.arn)?.status === "PENDING_VALIDATION") table.update(made.arn, { status: "VALIDATION_TIMED_OUT" });
    });
    proveDomains(account);
  } else later(PRIVATE_MS, () => ({ status: "ISSUED", issued: time.now() }));
  return made;
}

/** A certificate that was made elsewhere. */
export function importCertificate(account: Account, input: ImportCertificateRequest): Certificate {
  const text = (part: Uint8Array | undefined) => Buffer.from(part ?? []).toString("utf8");
  const parsed = parse(text(input.Certificate));
  const names = (parsed.subjectAltName ?? "").split(", ").flatMap((entry) => (entry.startsWith("DNS:") ? [entry.slice(4)] : []));
  const common = /^CN=(.+)$/m.exec(parsed.subject)?.[1];
  const domain = common ?? names[0] ?? "";
  const known = input.CertificateArn === undefined ? undefined : certificateAt(account, input.CertificateArn);
  if (known !== undefined && input.Tags?.length) {
    throw new ServiceError("InvalidParameterException", "You cannot apply tags when reimporting a certificate");
  }
  const now = account.time.now();
  const certificateArn = known?.arn ?? arn(account, "acm", `certificate/${account.ids.uuid()}`);
  return certificatesOf(account).put(certificateArn, {
    arn: certificateArn,
    type: "IMPORTED",
    status: "ISSUED",
    domain,
    names: [...new Set([domain, ...names])],
    keyAlgorithm: keyAlgorithmOf(parsed),
    authorityArn: undefined,
    created: known?.created ?? now,
    issued: now,
    recordsKnown: false,
    idempotencyToken: undefined,
    imported: { certificate: text(input.Certificate), key: text(input.PrivateKey), notAfter: Date.parse(parsed.validTo) },
    tags: known?.tags ?? withTags({}, input.Tags),
  });
}

function parse(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new ServiceError("ValidationException", "The certificate field contains more than one certificate, or none that can be read.");
  }
}

function keyAlgorithmOf({ publicKey }: X509Certificate): KeyAlgorithm {
  const { namedCurve, modulusLength } = publicKey.asymmetricKeyDetails ?? {};
  const name = namedCurve === undefined ? `RSA_${modulusLength}` : `EC_${namedCurve}`;
  const found = KEY_ALGORITHMS.find((algorithm) => algorithm === name);
  if (found === undefined) throw new ServiceError("ValidationException", `The key algorithm ${name} is not supported.`);
  return found;
}

function checkedDomain(name: string): string {
  if (name.length > 253 || !/^(\*\.)?(((?!-)[A-Za-z0-9-]{0,62}[A-Za-z0-9])\.)+((?!-)[A-Za-z0-9-]{1,62}[A-Za-z0-9])$/.test(name)) {
    throw new ServiceError(
      "ValidationException",
      `1 validation error detected: Value '${name}' at 'domainName' failed to satisfy constraint: Member must be a domain name`,
    );
  }
  return name.toLowerCase();
}
