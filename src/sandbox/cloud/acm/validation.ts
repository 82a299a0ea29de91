/** How domains are proven: by a record that AWS makes up, which whoever has the domain writes. */
import { createHash } from "node:crypto";
import type { Account } from "../account.ts";
import { publicAnswer } from "../route53/state.ts";
import { type Certificate, certificatesOf } from "./state.ts";

/** How long AWS waits for records: https://docs.aws.amazon.com/acm/latest/userguide/dns-validation.html */
export const VALIDATION_LIMIT_MS = 72 * 3_600_000;

/** The record that proves a domain; the same for every certificate of the account that names it. */
export function validationRecord(account: Account, name: string): { Name: string; Type: "CNAME"; Value: string } {
  const host = name.replace(/^\*\./, "");
  const digest = (salt: string) => createHash("sha256").update(`${salt} ${account.id} ${host}`).digest("hex").slice(0, 32);
  return { Name: `_${digest("name")}.${host}.`, Type: "CNAME", Value: `_${digest("value")}.acm-validations.aws.` };
}

/** Records have changed, or a certificate was asked for: those whose domains are all proven are issued a while later. */
export function proveDomains(account: Account): void {
  const table = certificatesOf(account);
  const after = account.settings().certificateValidationMs;
  const isPending = ({ type, status }: Certificate) => type === "AMAZON_ISSUED" && status === "PENDING_VALIDATION";
  if (after === undefined) return;
  for (const certificate of table.values().filter((each) => isPending(each) && isProven(account, each))) {
    account.time.after(after, () => {
      const now = table.get(certificate.arn);
      if (now && isPending(now) && isProven(account, now)) table.update(now.arn, { status: "ISSUED", issued: account.time.now() });
    });
  }
}

/** Names in zones of the account need their record there; those of others somebody proves elsewhere, for all that the cloud can see. */
function isProven(account: Account, { names }: Certificate): boolean {
  return names.every((name) => {
    const { Name, Type, Value } = validationRecord(account, name);
    return publicAnswer(account, Name, Type)?.includes(Value) ?? true;
  });
}
