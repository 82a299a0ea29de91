/** Go's own library as judge of how flags are read: thousands of texts made of what flags are made of. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import type { Kind } from "../../src/runtime/flags.ts";
import { goDuration, goQuote } from "../../src/runtime/flags-go.ts";
import { bool, duration, float, int, int32, ip, strings } from "../../src/runtime/flags-kinds.ts";
import { virtualWorld } from "../../src/sandbox/virtual-clock.ts";
import { flagText } from "../bed/flag-texts.ts";
import { goValuesReferee } from "./go-programs.ts";

interface Answer {
  readonly error?: string;
  readonly value: unknown;
  readonly shown?: string;
}

async function ask(questions: readonly { readonly kind: string; readonly text: string }[]): Promise<readonly Answer[]> {
  const asking = promisify(execFile)(await goValuesReferee(), [], { maxBuffer: 64 * 1024 * 1024 });
  asking.child.stdin?.end(JSON.stringify(questions));
  return JSON.parse((await asking).stdout);
}

/** A kind, and how its value compares with Go's. */
const kinds: readonly { readonly name: string; readonly kind: Kind<never>; same(value: never, answer: Answer): boolean }[] = [
  { name: "bool", kind: bool as Kind<never>, same: (value, { value: other }) => value === other },
  { name: "int32", kind: int32 as Kind<never>, same: (value, { value: other }) => value === other },
  { name: "int", kind: int as Kind<never>, same: (value, { value: other }) => value === Number(other) },
  { name: "float", kind: float as Kind<never>, same: (value, { value: other }) => value === Number(other) },
  {
    name: "duration",
    kind: duration as Kind<never>,
    // Go counts nanoseconds, we milliseconds in a double: to the nanosecond where a double holds it.
    same: (value: number, { value: other }) => Math.abs(value * 1e6 - Number(other)) <= Math.max(1, Math.abs(Number(other)) * 1e-12),
  },
  { name: "strings", kind: strings as Kind<never>, same: (value, { value: other }) => JSON.stringify(value) === JSON.stringify(other) },
];

for (const { name, kind, same } of kinds) {
  test(`${name}: what Go reads is read alike, and what Go refuses is refused`, async () => {
    const { random } = virtualWorld(name.length);
    const texts = Array.from({ length: 4_000 }, () => flagText(random));
    const answers = await ask(texts.map((text) => ({ kind: name, text })));
    const wrong = texts.flatMap((text, at) => {
      const answer = answers[at]!;
      // Refused here on purpose: no flag has a use for them, or for Go's hexadecimal floating point.
      if (name === "float" && /inf|nan|0x/i.test(text)) return [];
      try {
        const value = kind.parse(text, undefined);
        if (answer.error !== undefined) return `${JSON.stringify(text)} is read as ${JSON.stringify(value)}; Go: ${answer.error}`;
        return same(value, answer)
          ? []
          : `${JSON.stringify(text)} is read as ${JSON.stringify(value)}; Go: ${JSON.stringify(answer.value)}`;
      } catch (error) {
        return answer.error !== undefined
          ? []
          : `${JSON.stringify(text)}: ${(error as Error).message}; Go: ${JSON.stringify(answer.value)}`;
      }
    });
    assert.deepEqual(wrong.slice(0, 10), []);
  });
}

test("durations and quoted texts are printed as Go prints them, and addresses are told from others as Go does", async () => {
  const { random } = virtualWorld(9);
  const texts = Array.from({ length: 4_000 }, () => flagText(random));
  const shown = await ask(texts.map((text) => ({ kind: "duration", text })));
  const quoted = await ask(texts.map((text) => ({ kind: "quote", text })));
  const addresses = await ask(texts.map((text) => ({ kind: "ip", text })));
  for (const [at, text] of texts.entries()) {
    const { error, value, shown: printed } = shown[at]!;
    if (error === undefined && Math.abs(Number(value)) < 2 ** 53) assert.equal(goDuration(duration.parse(text, undefined)), printed, text);
    assert.equal(goQuote(text), quoted[at]!.value);
    let isAddress = true;
    try {
      ip.parse(text, undefined);
    } catch {
      isAddress = false;
    }
    assert.equal(isAddress, addresses[at]!.value, text);
  }
});
