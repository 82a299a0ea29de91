/** The characters that names and values of secrets are made of. */

/** A set of characters; those beyond ASCII are in it or not together. */
export type CharacterSet = (code: number) => boolean;

function setOf(pattern: RegExp, beyondAscii = false): CharacterSet {
  const table = Array.from({ length: 128 }, (_, code) => pattern.test(String.fromCharCode(code)));
  return (code) => (code < 128 ? table[code]! : beyondAscii);
}

export const blank = setOf(/[ \t]/);
export const digitOrCapital = setOf(/[A-Z0-9=+/]/);
export const inName = setOf(/[\w-]/);
export const inWebToken = setOf(/[\w.-]/);
export const inBase64 = setOf(/[\w+/=-]/);
export const inEncoded = setOf(/[\w+/=%-]/);
export const inToken = setOf(/[\w.~+/=-]/);
export const inAuthority = setOf(/[^\s/?#"'<>\\]/, true);
export const inLine = setOf(/[^\n\r]/, true);
export const inQuotable = setOf(/[^\n\r"'\\]/, true);
export const inValue = setOf(/[^\s"'<>,;&)}\]\\]/, true);
export const backslash = setOf(/\\/);

/** Opens and closes a value. */
export function isQuote(character: string | undefined): boolean {
  return character === '"' || character === "'" || character === "`";
}

/** `session_token`, `clientSecret`: no word of prose. */
export function isCompound(name: string): boolean {
  return /[-_]|[a-z][A-Z]/.test(name);
}

/** No word of any language. */
export function looksRandom(value: string): boolean {
  return value.length >= 16 && /^[\w+/=.~-]+$/.test(value) && /\d/.test(value);
}
