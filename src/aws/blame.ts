/** Which of the ids in one request an EC2 error is about. */
import { isAwsError } from "./errors.ts";

/**
 * The ids an error names (`The instance IDs 'i-1, i-2' do not exist`); none when it is about ids but names none of these;
 * undefined when it is not about ids.
 */
export function blamedIds(error: unknown, ids: readonly string[]): readonly string[] | undefined {
  if (!isAwsError(error, "not-found", "invalid")) return undefined;
  const words = new Set(error.detail.match(/[\w.-]+/g));
  const named = ids.filter((id) => words.has(id));
  if (named.length > 0) return named;
  return aboutIds.test(error.code) ? [] : undefined;
}

const aboutIds = /^InvalidID$|^Invalid\w*ID\.(NotFound|Malformed)$|^InvalidInstance/;
