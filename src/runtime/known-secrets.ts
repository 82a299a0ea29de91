/**
 * Secrets that this process itself holds: tokens it sends, keys it signs with. Whatever form a text has, these never stand
 * in it. One list for the process, because a log line does not know which client's secret it may hold.
 */
const forms = new Set<string>();
/** Each secret in two forms; those of all clients, and the ones before them that are still in use. */
const maxForms = 128;
/** Shorter ones are words too. */
const minLength = 8;

/** From now on, this text is masked wherever it stands. The oldest are forgotten: they have expired long since. */
export function rememberSecret(secret: string | undefined): void {
  if (secret === undefined || secret.length < minLength) return;
  for (const form of [secret, encodeURIComponent(secret)]) {
    forms.delete(form);
    forms.add(form);
  }
  for (const oldest of forms) {
    if (forms.size <= maxForms) return;
    forms.delete(oldest);
  }
}

/** The text without any secret that is known. */
export function maskKnownSecrets(text: string, mask: string): string {
  let clean = text;
  for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, mask);
  return clean;
}
