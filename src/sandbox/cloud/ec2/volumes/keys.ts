/** Keys of KMS that volumes are encrypted with. */
import { arn } from "../../account.ts";
import { matcher } from "../../wildcard.ts";
import type { Ec2 } from "../state.ts";

const DEFAULT_KEY = "11111111-2222-4333-8444-555555555555";

/** The ARN that answers show for a key given as id, ARN or alias; the account's default key when none is given. */
export function keyArn(ec2: Ec2, key: string | undefined): string {
  if (key === undefined || key === "" || key.endsWith("alias/aws/ebs")) return arn(ec2.account, "kms", `key/${DEFAULT_KEY}`);
  if (key.startsWith("arn:")) return key;
  return arn(ec2.account, "kms", key.startsWith("alias/") ? key : `key/${key}`);
}

/** Whether EC2 may encrypt with a key. It finds out only after it has answered: what it cannot encrypt vanishes. */
export function isUsable(ec2: Ec2, key: string | undefined): boolean {
  if (key === undefined || key === keyArn(ec2, undefined)) return true;
  return ec2.account.settings().keys.some((pattern) => matcher(pattern)(key));
}
