/** Certificates that are requested for Ingresses, in some of the worlds: which of them an account has, and which it is to have. */
import { type Certificate, certificatesOf } from "../../src/sandbox/cloud/acm/state.ts";
import { usersOfCertificate } from "../../src/sandbox/cloud/balancing/certificates.ts";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import { recordsOf, zonesOf } from "../../src/sandbox/cloud/route53/state.ts";
import { type IngressWish, isServed, type Surroundings, stackOf } from "./ingresses-wish.ts";

/** In these worlds the gate is open. */
export const requestsCertificates = (seed: number) => Math.floor(seed / 4) % 4 === 3;

const clusterTag = "elbv2.k8s.aws/cluster";
const stackTag = "ingress.k8s.aws/stack";

/** Certificates of other people for host names that users here have too: of another cluster's group, and of nobody. */
const foreign: readonly Readonly<Record<string, string>>[] = [{ [clusterTag]: "other", [stackTag]: "default/a" }, {}];

/** A name of an Ingress that other people have certificates for: AWS renews theirs by the same record. */
const foreignDomain = "a1.example.com";

/** Where names are proven, and what is there before the first Ingress. */
export function plantCertificates({ account }: Cloud): void {
  zonesOf(account).put("ZONE", { id: "ZONE", name: "example.com.", isPrivate: false });
  for (const [i, tags] of foreign.entries()) plantCertificate(account, i, foreignDomain, tags);
}

/** One that is issued. */
export function plantCertificate(account: Cloud["account"], number: number, domain: string, tags: Readonly<Record<string, string>>): void {
  const arn = `arn:aws:acm:${account.region}:${account.id}:certificate/00000000-0000-0000-0000-00000000000${number}`;
  certificatesOf(account).put(arn, {
    arn,
    type: "AMAZON_ISSUED",
    status: "ISSUED",
    domain,
    names: [domain],
    keyAlgorithm: "RSA_2048",
    authorityArn: undefined,
    created: 0,
    issued: 0,
    recordsKnown: true,
    idempotencyToken: undefined,
    imported: undefined,
    tags,
  });
}

const ofCluster = ({ account }: Cloud): readonly Certificate[] =>
  certificatesOf(account)
    .values()
    .filter(({ tags }) => tags[clusterTag] === "simulated");

/** Whose a certificate is: host names begin with the name of their Ingress. */
const ownerOf = ({ domain }: Certificate) => domain[0];

const isSecured = (wish: IngressWish) => isServed(wish) && wish.isSecured;

/** So long it takes until one is issued, or never is; and until it is noticed. */
const issueMs = 5 * 60_000;
const noticeMs = 60_000;

/**
 * What is wrong with them, were it final. One with a mistake keeps what it had; and the listeners of a group in which one is not
 * understood keep what nobody asks for any more.
 */
export function wrongCertificates(cloud: Cloud, wishes: Iterable<IngressWish>, around: Surroundings): readonly string[] {
  const known = [...wishes];
  const present = ofCluster(cloud);
  const unclear = new Set<string | undefined>(known.filter(({ mistake }) => mistake !== undefined).map((wish) => stackOf(wish, around)));
  const isKept = ({ arn, tags }: Certificate) => unclear.has(tags[stackTag]) && usersOfCertificate(cloud.account, arn).length > 0;
  const isFor = (wish: IngressWish, { domain, tags }: Certificate) => domain === wish.host && tags[stackTag] === stackOf(wish, around);
  const isWanted = (certificate: Certificate) => {
    const wish = known.find(({ name }) => name === ownerOf(certificate));
    return wish !== undefined && isServed(wish) && (wish.mistake !== undefined || (wish.isSecured && isFor(wish, certificate)));
  };
  const missing = known.filter(
    (wish) =>
      isSecured(wish) &&
      wish.mistake === undefined &&
      present.filter((certificate) => isFor(wish, certificate) && certificate.status === "ISSUED").length !== 1,
  );
  const surplus = present.filter((certificate) => !isWanted(certificate) && !isKept(certificate));
  const now = cloud.account.time.now();
  const fresh = present.filter(({ issued, created }) => (issued === undefined ? now - created < issueMs : now - issued < noticeMs));
  return [
    ...fresh.map(({ domain }) => `what comes of the certificate for ${domain} is not known yet`),
    ...missing.map(({ name, host }) => `${name} has not the one certificate for ${host} that it asks for`),
    ...surplus.map(({ domain }) => `a certificate for ${domain} is nobody's`),
  ];
}

/** What is left of Ingresses that are all gone. */
export const leftCertificates = (cloud: Cloud): readonly string[] => [
  ...ofCluster(cloud).map(({ domain }) => `a certificate for ${domain} is left`),
  ...recordsOf(cloud.account)
    .values()
    .filter(({ name }) => !name.endsWith(`.${foreignDomain}.`))
    .map(({ name }) => `record ${name} is left`),
];

/** Those of other people that are gone. */
export function lostCertificates({ account }: Cloud): readonly string[] {
  if (zonesOf(account).values().length === 0) return [];
  const strangers = certificatesOf(account)
    .values()
    .filter(({ tags }) => tags[clusterTag] !== "simulated");
  return strangers.length === foreign.length ? [] : ["a certificate of somebody else is gone or changed"];
}
