/** The IAM role of the handler: its documents, from the table of permissions. */
import { permissions } from "../../doctor/permissions.ts";
import { policyDocument, strictStatements, trustStatements } from "../../doctor/policy-document.ts";
import { queueArn, type RoleWish, type SetupWish } from "../../interruptions/setup/wish.ts";

export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
}

type Place = Pick<SetupWish, "partition" | "region" | "account" | "name">;

/** What the handler needs, on its own queue alone; without an OIDC provider the role is for EKS Pod Identity. */
export function handlerRole(name: string, place: Place, { namespace, name: account }: ServiceAccount, oidcProvider: string): RoleWish {
  const words = { PARTITION: place.partition, REGION: place.region, ACCOUNT_ID: place.account, OIDC_PROVIDER: oidcProvider };
  // The queue comes last: what stands for something in the table may be a part of its name.
  const statements = permissions.interruptions
    .flatMap(strictStatements)
    .map((statement) => filled(statement, words))
    .map((statement) =>
      statement.Action.every((action) => action.startsWith("sqs:")) ? { ...statement, Resource: [queueArn(place)] } : statement,
    );
  const trust =
    oidcProvider === ""
      ? trustStatements["pod-identity"]()
      : trustStatements["web-identity"](`system:serviceaccount:${namespace}:${account}`);
  return { name, trust: filled(policyDocument([trust]), words), policy: policyDocument(statements) };
}

/** Both documents as a person reads them. */
export function roleText({ name, trust, policy }: RoleWish): string {
  return `\nrole ${name} trusts\n${JSON.stringify(trust, undefined, 2)}\nand allows\n${JSON.stringify(policy, undefined, 2)}\n`;
}

function filled<T extends object>(document: T, words: Readonly<Record<string, string>>): T {
  const text = Object.entries(words).reduce((left, [word, value]) => left.replaceAll(word, value), JSON.stringify(document));
  return JSON.parse(text) as T;
}
