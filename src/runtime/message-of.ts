/** The message of whatever was thrown. This file imports nothing: the credential provider's cold start loads it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
