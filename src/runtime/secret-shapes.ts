/**
 * Finds what looks like a secret in a text: by what stands before it (`token=`, `Authorization:`, `Bearer`) or by its own
 * form (web tokens, private keys).
 *
 * One pass from left to right. A short expression finds the places worth a look; from there on characters are looked at
 * one by one, a fixed number of them unless they are masked, and what is masked is not looked at again. So the work grows
 * with the length of the text and no faster, whatever the text is: `steps` counts it.
 */

import {
  backslash,
  blank,
  type CharacterSet,
  digitOrCapital,
  inAuthority,
  inBase64,
  inEncoded,
  inLine,
  inName,
  inQuotable,
  inToken,
  inValue,
  inWebToken,
  isCompound,
  isQuote,
  looksRandom,
} from "./secret-characters.ts";

/** From here to there, the end not included. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Found {
  readonly spans: readonly Span[];
  /** Characters looked at. */
  readonly steps: number;
}

/** Whether a field of this name holds a secret, whatever it looks like. */
export function isSecretName(name: string): boolean {
  return secretName.test(name) && !harmlessName.test(name);
}

/** The secrets in a text. `strict`: after a name and a colon even a plain word is one, as in what a foreign program prints. */
export function findSecrets(text: string, strict = false): Found {
  return new Finder(text, strict).find();
}

const secretName =
  /pass(word|wd|phrase)|secret|token|credential|authori[sz]ation|private[-_]?key|key[-_]?data|api[-_]?key|cookie|signature|\bbearer\b|^auth$/i;
/** Names of, paths to and facts about secrets tell nothing. */
const harmlessName =
  /(name|namespace|names|ref|refs|files?|paths?|dir|ttl|type|kind|count|expiry|expiration|expires(At)?|ms|seconds|source|provider|arn|id)$/i;

/** Places worth a look. Every alternative has a fixed length. */
const places =
  /-----BEGIN |LS0tLS1CRUdJTi|eyJ|IQoJb3JpZ2lu|FwoGZXIvYXdz|k8s-aws-v1\.|QVdTO|AWS4-|:\/\/|bearer|basic|passw|passphrase|secret|token|credential|authori[sz]ation|private[-_]?key|key[-_]?data|api[-_]?key|cookie|signature|\bauth\b/gi;

const keyBegin = "-----BEGIN ";
/** Longest run that is looked at without masking it. */
const near = 64;
const plain = /^(?:true|false|null|nil|none|undefined)$/i;
/** A value of a header that is followed by the secret itself. */
const scheme = /^(?:bearer|basic|token|digest|negotiate)$/i;
const header = /(?:authori[sz]ation|cookie)$/i;

class Finder {
  readonly #text: string;
  readonly #strict: boolean;
  #steps = 0;

  constructor(text: string, strict: boolean) {
    this.#text = text;
    this.#strict = strict;
  }

  find(): Found {
    const spans: Span[] = [];
    const expression = new RegExp(places);
    for (let found = expression.exec(this.#text); found !== null; found = expression.exec(this.#text)) {
      const span = this.#secretAt(found[0], found.index);
      if (span === undefined || span.to <= span.from) continue;
      const to = this.#endWithKeys(span);
      spans.push({ from: span.from, to });
      expression.lastIndex = Math.max(expression.lastIndex, to);
    }
    return { spans, steps: this.#steps + this.#text.length };
  }

  #secretAt(place: string, at: number): Span | undefined {
    const after = at + place.length;
    switch (place) {
      case keyBegin:
        return this.#privateKey(at, after);
      case "eyJ":
        return this.#run(at, inWebToken, 8 + place.length, near);
      case "LS0tLS1CRUdJTi":
      case "IQoJb3JpZ2lu":
      case "FwoGZXIvYXdz":
        return this.#run(at, inEncoded, 20, near);
      case "QVdTO":
        return this.#run(at, inBase64, 25, near);
      case "k8s-aws-v1.":
        return { from: at, to: this.#end(after, inName) };
      case "AWS4-":
        return { from: after, to: this.#end(after, inQuotable) };
      case "://":
        return this.#userInfo(after);
    }
    return this.#credentials(place, at, after) ?? this.#named(at, after);
  }

  /** Where a secret ends when a private key begins in it: `private-key: -----BEGIN`, of which the name alone would mask one line. */
  #endWithKeys({ from, to }: Span): number {
    let end = to;
    for (let at = from; at < end; ) {
      const found = this.#text.slice(at, end + keyBegin.length).indexOf(keyBegin);
      this.#steps += found < 0 ? end - at : found + keyBegin.length;
      if (found < 0) break;
      const after = at + found + keyBegin.length;
      const key = this.#privateKey(at + found, after);
      at = key?.to ?? after;
      if (key !== undefined) end = Math.max(end, key.to);
    }
    return end;
  }

  /** To its last line, or to the end of the text. */
  #privateKey(at: number, after: number): Span | undefined {
    const label = this.#text.slice(after, after + near);
    this.#steps += label.length;
    if (!/^[A-Z ]*PRIVATE KEY-----/.test(label)) return undefined;
    const last = this.#text.indexOf("-----END ", after);
    const to = last < 0 ? this.#text.length : Math.min(this.#text.length, this.#end(last + 9, inLine, near));
    this.#steps += to - after;
    return { from: at, to };
  }

  /** `user:password@` before a host. */
  #userInfo(after: number): Span | undefined {
    const end = this.#end(after, inAuthority, 512);
    const at = this.#text.slice(after, end).lastIndexOf("@");
    return at < 0 || this.#isMasked(after) ? undefined : { from: after, to: after + at };
  }

  /** `Bearer xyz`, `Basic dXNlcjpwYXNz`; "basic authentication" is just words. */
  #credentials(place: string, at: number, after: number): Span | undefined {
    const basic = /^basic$/i.test(place);
    if (!basic && !/^bearer$/i.test(place)) return undefined;
    if (at > 0 && inName(this.#text.charCodeAt(at - 1))) return undefined;
    const from = this.#end(after, blank, near);
    if (from === after) return undefined;
    const to = this.#end(from, inToken, near);
    const encoded = !basic || [...this.#text.slice(from, to)].some((character) => digitOrCapital(character.charCodeAt(0)));
    return to - from >= (basic ? 8 : 6) && encoded ? { from, to: this.#end(to, inToken) } : undefined;
  }

  /** `key=value`, `"key": "value"`, `key: b'value'`, `<key>value</key>`, `key:[value]`, `--key value`, with the quotes escaped or not. */
  #named(at: number, after: number): Span | undefined {
    const start = this.#start(at);
    const end = this.#end(after, inName, near);
    if (!isSecretName(this.#text.slice(start, end).replace(/^-+/, ""))) return undefined;
    const quoteAt = this.#end(end, backslash, 4);
    const isQuoted = isQuote(this.#text[quoteAt]);
    const behind = this.#end(isQuoted ? quoteAt + 1 : end, blank, near);
    const separator = this.#separator(start, behind, isQuoted);
    if (separator === undefined) return undefined;
    const from = this.#end(behind + separator.length, blank, near);
    const lineEnd = /^(?:[|>][+-]?)?\r?\n/.exec(this.#text.slice(from, from + 4))?.[0];
    if (lineEnd !== undefined) return this.#valueBelow(this.#end(from + lineEnd.length, blank, near));
    // Prose has blanks between the parts too: "cannot renew the token: connection refused".
    const prose = separator === ":" && from > behind + 1 && !isQuoted;
    return this.#value(start, end, from, prose);
  }

  #separator(start: number, at: number, isQuoted: boolean): string | undefined {
    const two = this.#text.slice(at, at + 2);
    if (two === ":=" || two === "=>") return two;
    if (two[0] === "=" || two[0] === ":") return two[0];
    if (two[0] === ">") return /[<:]/.test(this.#text[start - 1] ?? "") ? ">" : undefined;
    // A flag and its value as two words.
    const flag = !isQuoted && this.#text.startsWith("--", start) && blank(this.#text.charCodeAt(at - 1)) && two[0] !== "-";
    return flag ? "" : undefined;
  }

  #value(start: number, end: number, at: number, prose: boolean): Span | undefined {
    let from = at;
    while (from < at + 2 && (this.#text[from] === "(" || this.#text[from] === "[") && !this.#isMasked(from)) from++;
    if (this.#isMasked(from)) return undefined;
    const opening = this.#end(from + (/^[bru]{1,2}(?=\\*["'])/i.exec(this.#text.slice(from, from + 8))?.[0].length ?? 0), backslash, 4);
    const quote = this.#text[opening];
    if (isQuote(quote)) {
      const to = this.#closing(opening + 1, quote!, this.#backslashesBefore(opening));
      return this.#unlessPlain(opening + 1, to);
    }
    if (header.test(this.#text.slice(start, end))) return this.#unlessPlain(from, this.#end(from, inQuotable));
    const startsLine = this.#startsLine(start);
    if (prose && startsLine) return this.#unlessPlain(from, this.#end(from, inLine));
    let to = this.#end(from, inValue, near);
    if (scheme.test(this.#text.slice(from, to))) {
      from = this.#end(to, blank, near);
      if (this.#isMasked(from)) return undefined;
      to = this.#end(from, inValue, near);
    }
    if (prose && !this.#strict && !isCompound(this.#text.slice(start, end)) && !looksRandom(this.#text.slice(from, to))) return undefined;
    return this.#unlessPlain(from, this.#end(to, inValue));
  }

  /** A value in the line below its name, unless that is the next sentence, or a name itself. */
  #valueBelow(from: number): Span | undefined {
    const quote = this.#text[from];
    if (isQuote(quote)) {
      const to = this.#closing(from + 1, quote!, 0);
      return /[:=]/.test(this.#text[this.#end(to + 1, blank, near)] ?? "") ? undefined : this.#unlessPlain(from + 1, to);
    }
    const head = this.#end(from, inValue, near);
    const word = this.#text.slice(from, head);
    return looksRandom(word) || (this.#strict && !/[:=]$/.test(word)) ? { from, to: this.#end(head, inValue) } : undefined;
  }

  /**
   * Where a quoted value ends: at its quote, or at the end of the line, so that the next secret's own quote does not end it.
   * In a text that was quoted itself its quote has as many backslashes before it as the opening one; other backslashes belong
   * to the value (`\\/`, for a slash).
   */
  #closing(from: number, quote: string, escapes: number): number {
    let at = from;
    for (; at < this.#text.length; at++) {
      this.#steps++;
      if (this.#text[at] === quote || this.#text[at] === "\n") break;
      if (this.#text[at] !== "\\") continue;
      if (escapes === 0) {
        if (this.#text[at + 1] !== "\n") at++;
        continue;
      }
      const run = this.#end(at, backslash);
      if (this.#text[run] === quote && run - at <= escapes) break;
      at = this.#text[run] === quote ? run : run - 1;
    }
    return Math.min(at, this.#text.length);
  }

  #backslashesBefore(at: number): number {
    let from = at;
    while (from > 0 && this.#text[from - 1] === "\\") from--;
    this.#steps += at - from;
    return at - from;
  }

  #unlessPlain(from: number, to: number): Span | undefined {
    return to - from < 12 && plain.test(this.#text.slice(from, to)) ? undefined : { from, to };
  }

  #isMasked(at: number): boolean {
    return this.#text.startsWith(masked, at);
  }

  #startsLine(start: number): boolean {
    for (let at = start - 1; at >= 0 && at > start - near; at--) {
      this.#steps++;
      const character = this.#text[at]!;
      if (character === "\n" || /[{,;|&?]/.test(character)) return true;
      if (!/[\s<>*-]/.test(character)) return false;
    }
    return start < near;
  }

  /** Where the name around a place begins. */
  #start(at: number): number {
    let start = at;
    while (start > 0 && at - start < near && inName(this.#text.charCodeAt(start - 1))) start--;
    this.#steps += at - start;
    return start;
  }

  /** The run that begins here, if it is as long as that; it is followed to its end only then. */
  #run(from: number, set: CharacterSet, atLeast: number, limit: number): Span | undefined {
    const head = this.#end(from, set, limit);
    return head - from < atLeast ? undefined : { from, to: this.#end(head, set) };
  }

  #end(from: number, set: CharacterSet, limit = Number.POSITIVE_INFINITY): number {
    let at = from;
    while (at < this.#text.length && at - from < limit && set(this.#text.charCodeAt(at))) at++;
    this.#steps += at - from + 1;
    return at;
  }
}

/** What stands in the place of a secret. */
export const masked = "[redacted]";
