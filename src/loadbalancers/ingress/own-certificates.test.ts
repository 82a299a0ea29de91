import assert from "node:assert/strict";
import { test } from "node:test";
import { trackingTags } from "./names.ts";
import { type CertificateWish, type OwnCertificate, partEnd, planCertificateRemoval, planCertificates } from "./own-certificates.ts";

const zones = [{ id: "Z0", name: "example.com" }];
const part = `amazon_issued/a.example.com${partEnd("shop/web")}`;
const tagsIn = (cluster: string, stack = "shared") => trackingTags(cluster, { kind: "explicit", name: stack }, part);

const wish = (given: Partial<CertificateWish> = {}): CertificateWish => ({
  key: "shop/web",
  part,
  uid: "u1",
  names: ["a.example.com"],
  tags: tagsIn("blue"),
  ...given,
});

const certificate = (given: Partial<OwnCertificate> = {}): OwnCertificate => ({
  arn: "arn:1",
  part,
  requestedAt: 0,
  status: "ISSUED",
  domains: ["a.example.com"],
  records: [{ domain: "a.example.com", name: "_1.a.example.com.", value: "_2.acm-validations.aws." }],
  usedBy: [],
  ...given,
});

/** The token by which AWS knows that the same is requested once more. */
function token(of: CertificateWish, ...own: OwnCertificate[]): unknown {
  const { steps } = planCertificates([of], { own, zones, proven: new Map(), now: 10_000_000 });
  return (steps.at(-1)!.input as { readonly IdempotencyToken?: string }).IdempotencyToken;
}

test("the same request is the same certificate; that of another cluster, group or Ingress, or after another one, is not", () => {
  assert.equal(token(wish()), token(wish({ tags: { ...tagsIn("blue"), team: "core" } })));
  const former = certificate({ domains: ["b.example.com"] });
  const tokens = [
    token(wish()),
    token(wish({ tags: tagsIn("green") })),
    token(wish({ tags: tagsIn("blue", "other") })),
    token(wish({ uid: "u2" })),
    token(wish(), former),
  ];
  assert.equal(new Set(tokens).size, tokens.length);
});

test("records of a certificate that is removed go, but for those that prove another one", () => {
  const domains = ["a.example.com", "*.b.example.com"];
  const records = domains.map((domain, i) => ({ domain, name: `_${i}.${domain.replace("*.", "")}.`, value: "v" }));
  const steps = planCertificateRemoval(certificate({ domains, records }), { zones, others: [{ domains: ["b.example.com"] }] });
  assert.deepEqual(
    steps.map(({ what }) => what),
    ["delete the records that prove a.example.com", "delete certificate arn:1"],
  );
});
