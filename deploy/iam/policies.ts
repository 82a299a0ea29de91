/**
 * Writes the policies of this folder from the table of permissions.
 *
 *     node deploy/iam/policies.ts
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Feature, permissions } from "../../src/doctor/permissions.ts";
import {
  type PolicyDocument,
  policyDocument,
  strictStatements,
  trustStatements,
  usualStatement,
} from "../../src/doctor/policy-document.ts";

export type { PolicyDocument };

/** Every document by its path in this folder. */
export function policies(): Readonly<Record<string, PolicyDocument>> {
  const features = Object.keys(permissions) as Feature[];
  return Object.fromEntries([
    ...features.map((feature) => [`${feature}.json`, policyDocument(permissions[feature].map(usualStatement))]),
    ...features.map((feature) => [`strict/${feature}.json`, policyDocument(permissions[feature].flatMap(strictStatements))]),
    ...Object.entries(trustStatements).map(([name, statement]) => [`trust/${name}.json`, policyDocument([statement(serviceAccount)])]),
  ]);
}

/** A document as it is stored. */
export function text(policy: PolicyDocument): string {
  return `${JSON.stringify(policy, undefined, 2)}\n`;
}

const serviceAccount = "system:serviceaccount:kube-system:fairlead-controller-manager";

if (import.meta.main) {
  for (const [path, policy] of Object.entries(policies())) {
    const file = join(import.meta.dirname, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text(policy));
  }
}
