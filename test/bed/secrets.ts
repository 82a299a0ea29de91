/**
 * Every secret a test hands out is remembered here, and nothing that people read may hold one: not a log, not an Event.
 * Each test process looks at the end of its run; see `bed.ts`.
 */
import assert from "node:assert/strict";

const planted = new Set<string>();

/** Remembers a secret, so that it can be looked for, and gives it back. */
export function plant(secret: string): string {
  planted.add(secret);
  return secret;
}

/** Text that looks like a secret, whoever made it: a signed token, a private key. */
const shapes: readonly { readonly what: string; readonly shape: RegExp }[] = [
  { what: "a signed token", shape: /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/ },
  { what: "a private key", shape: /-----BEGIN [A-Z ]*PRIVATE KEY-----/ },
  { what: "an authorization header", shape: /[Bb]earer [\w-]{16,}/ },
];

export interface Readable {
  /** Where a reader would find it: `log of controller-manager-1`. */
  readonly name: string;
  readonly text: string;
}

/** Fails when a planted secret, or what has the shape of one, stands in a text. Says where, and never the secret. */
export function assertNoSecrets(texts: readonly Readable[]): void {
  const leaks: string[] = [];
  for (const { name, text } of texts) {
    for (const secret of planted) if (contains(text, secret)) leaks.push(`${name} holds a planted secret of ${secret.length} characters`);
    for (const { what, shape } of shapes) if (shape.test(text)) leaks.push(`${name} holds ${what}`);
  }
  assert.deepEqual(leaks, []);
}

/** As it is, or as tools write it: base64, or escaped in a JSON text. */
function contains(text: string, secret: string): boolean {
  const forms = [secret, Buffer.from(secret).toString("base64").replace(/=+$/, ""), JSON.stringify(secret).slice(1, -1)];
  return forms.some((form) => text.includes(form));
}
