/** Certificate Manager, as far as load balancers need it. */
import {
  type CertificateDetail,
  type CertificateSummary,
  DeleteCertificate$,
  type DeleteCertificateRequest,
  DescribeCertificate$,
  type DescribeCertificateRequest,
  type DescribeCertificateResponse,
  ImportCertificate$,
  type ImportCertificateRequest,
  type ImportCertificateResponse,
  ListCertificates$,
  type ListCertificatesRequest,
  type ListCertificatesResponse,
  RequestCertificate$,
  type RequestCertificateRequest,
  type RequestCertificateResponse,
} from "@aws-sdk/client-acm";
import type { Account } from "../account.ts";
import { usersOfCertificate } from "../balancing/certificates.ts";
import { ServiceError } from "../errors.ts";
import { json } from "../protocol/protocol.ts";
import { read, type Service, write } from "../service.ts";
import { tokenPage } from "../token-pages.ts";
import { importCertificate, requestCertificate } from "./requests.ts";
import { type Certificate, certificateAt, certificatesOf } from "./state.ts";
import { tagOperations } from "./tags.ts";
import { validationRecord } from "./validation.ts";

/** What a list shows that names no key types: https://docs.aws.amazon.com/acm/latest/APIReference/API_ListCertificates.html */
const LISTED_KEYS = ["RSA_1024", "RSA_2048"];
const MAX_PAGE = 1000;
/** A summary names this many of a certificate's names. */
const SUMMARISED_NAMES = 100;
const YEAR_MS = 395 * 86_400_000;

const needsTagging = ({ Tags }: { readonly Tags?: readonly unknown[] | undefined }) =>
  (Tags?.length ?? 0) > 0 ? ["acm:AddTagsToCertificate"] : [];

/** The service. */
export function acmService(account: Account): Service {
  return {
    name: "acm",
    signingName: "acm",
    address: { target: "CertificateManager" },
    region: "own",
    protocol: json("1.1"),
    operations: [
      read<ListCertificatesRequest, ListCertificatesResponse>(ListCertificates$, (input) => list(account, input)),
      read<DescribeCertificateRequest, DescribeCertificateResponse>(DescribeCertificate$, (input) => ({
        Certificate: describe(account, certificateAt(account, input.CertificateArn)),
      })),
      write<RequestCertificateRequest, RequestCertificateResponse>(
        RequestCertificate$,
        (input) => ({ CertificateArn: requestCertificate(account, input).arn }),
        needsTagging,
      ),
      write<ImportCertificateRequest, ImportCertificateResponse>(
        ImportCertificate$,
        (input) => ({ CertificateArn: importCertificate(account, input).arn }),
        needsTagging,
      ),
      write<DeleteCertificateRequest, object>(DeleteCertificate$, (input) => {
        const { arn } = certificateAt(account, input.CertificateArn);
        if (usersOfCertificate(account, arn).length > 0) {
          throw new ServiceError("ResourceInUseException", `Certificate ${arn} in account ${account.id} is in use.`);
        }
        certificatesOf(account).delete(arn);
        return {};
      }),
      ...tagOperations(account),
    ],
  };
}

function list(account: Account, input: ListCertificatesRequest): ListCertificatesResponse {
  const { CertificateStatuses: statuses, Includes: includes } = input;
  const keyTypes: readonly string[] = includes?.keyTypes?.length ? includes.keyTypes : LISTED_KEYS;
  const chosen = certificatesOf(account)
    .values()
    .filter(({ status, keyAlgorithm }) => (statuses?.length ? statuses.includes(status) : true) && keyTypes.includes(keyAlgorithm));
  const refuse = (message: string) => new ServiceError("ValidationException", message);
  const page = tokenPage(account, chosen, ({ arn }) => arn, { token: input.NextToken, size: input.MaxItems, maxSize: MAX_PAGE, refuse });
  return { CertificateSummaryList: page.items.map((certificate) => summary(account, certificate)), NextToken: page.next };
}

function summary(account: Account, certificate: Certificate): CertificateSummary {
  const { names } = certificate;
  return {
    CertificateArn: certificate.arn,
    DomainName: certificate.domain,
    SubjectAlternativeNameSummaries: names.slice(0, SUMMARISED_NAMES),
    HasAdditionalSubjectAlternativeNames: names.length > SUMMARISED_NAMES,
    Status: certificate.status,
    Type: certificate.type,
    KeyAlgorithm: certificate.keyAlgorithm,
    InUse: usersOfCertificate(account, certificate.arn).length > 0,
    ...dates(certificate),
  };
}

function describe(account: Account, certificate: Certificate): CertificateDetail {
  const asked = certificate.type === "AMAZON_ISSUED";
  return {
    CertificateArn: certificate.arn,
    DomainName: certificate.domain,
    SubjectAlternativeNames: [...certificate.names],
    DomainValidationOptions: asked
      ? certificate.names.map((name) => ({
          DomainName: name,
          ValidationDomain: name,
          ValidationStatus: certificate.status === "ISSUED" ? ("SUCCESS" as const) : ("PENDING_VALIDATION" as const),
          ValidationMethod: "DNS" as const,
          ResourceRecord: certificate.recordsKnown ? validationRecord(account, name) : undefined,
        }))
      : undefined,
    Status: certificate.status,
    Type: certificate.type,
    KeyAlgorithm: certificate.keyAlgorithm,
    InUseBy: [...usersOfCertificate(account, certificate.arn)],
    CertificateAuthorityArn: certificate.authorityArn,
    RenewalEligibility: certificate.type === "IMPORTED" ? "INELIGIBLE" : "ELIGIBLE",
    ...dates(certificate),
  };
}

function dates({ type, created, issued, imported }: Certificate) {
  const known = issued === undefined ? undefined : new Date(issued);
  const ends = imported?.notAfter ?? (issued === undefined ? undefined : issued + YEAR_MS);
  return {
    CreatedAt: new Date(created),
    IssuedAt: type === "IMPORTED" ? undefined : known,
    ImportedAt: type === "IMPORTED" ? known : undefined,
    NotBefore: known,
    NotAfter: ends === undefined ? undefined : new Date(ends),
  };
}
