/** Which of the ids in one request an AWS error is about. */
import { isAwsError } from "./errors.ts";

/**
 * The ids an error names (`The instance IDs 'i-1, i-2' do not exist`); none when it is about ids but names none of these;
 * undefined when it is not about ids.
 */
export function idsInError(error: unknown, ids: readonly string[]): readonly string[] | undefined {
  if (!isAwsError(error, "not-found", "invalid")) return undefined;
  const named = idsNamedIn(error.detail, ids);
  if (named.length > 0) return named;
  return aboutIds.test(error.code) ? [] : undefined;
}

/** The ids, names or ARNs that stand in a text by themselves: `web` is not named where only `web-1` is. */
export function idsNamedIn(text: string, ids: readonly string[]): readonly string[] {
  // A full stop or colon that ends the sentence is none of the id's.
  return ids.filter((id) => new RegExp(`(?<![\\w.:/-])${RegExp.escape(id)}(?![\\w/-]|[.:][\\w/-])`).test(text));
}

const aboutIds =
  /^InvalidID$|^Invalid\w*ID\.(NotFound|Malformed)$|^InvalidInstance|^Invalid(Volume|Snapshot|VolumeModification)\.NotFound$/;
