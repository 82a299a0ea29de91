import assert from "node:assert/strict";
import { test } from "node:test";
import { flagText } from "../../test/bed/flag-texts.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import type { Kind } from "./flags.ts";
import * as exported from "./flags-kinds.ts";

/** Every kind there is, also those that come later. */
const { oneOf, ...plain } = exported;
const kinds = Object.entries({ ...plain, oneOf: oneOf("true", "1") }) as unknown as readonly (readonly [
  string,
  Kind<NonNullable<unknown>>,
])[];
/** Those whose value is printed in the form it is given in. */
const readable = ["bool", "string", "int32", "int", "float32", "float", "duration", "level", "vmodule", "quantity"];

function hasNonsense(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  if (typeof value === "function" || value === undefined || value === null) return true;
  return typeof value === "object" && Object.values(value).some(hasNonsense);
}

for (const [name, kind] of kinds) {
  test(`a flag of kind ${name} is read to something that makes sense, or refused with a reason, whatever it is given`, () => {
    const { random } = virtualWorld(name.length);
    let [accepted, refused] = [0, 0];
    for (let i = 0; i < 3_000; i++) {
      const text = flagText(random);
      const before = random.number() < 0.3 ? accepting(kind, flagText(random)) : undefined;
      let value: NonNullable<unknown>;
      try {
        value = kind.parse(text, before);
      } catch (error) {
        assert.ok(error instanceof SyntaxError || error instanceof RangeError, `${JSON.stringify(text)}: ${error}`);
        assert.notEqual(error.message, "");
        refused++;
        continue;
      }
      accepted++;
      assert.ok(!hasNonsense(value), `${JSON.stringify(text)} is read as ${JSON.stringify(value)}`);
      const printed = kind.print(value);
      if (readable.includes(name) && !isLarge(value)) {
        assert.deepEqual(comparable(kind.parse(printed, undefined)), comparable(value), `${JSON.stringify(text)} is printed as ${printed}`);
      }
    }
    assert.ok(accepted > 0, "some texts are accepted");
    if (name !== "string" && name !== "stringArray") assert.ok(refused > 0, "some texts are refused");
  });
}

function accepting(kind: Kind<NonNullable<unknown>>, text: string): NonNullable<unknown> | undefined {
  try {
    return kind.parse(text, undefined);
  } catch {
    return undefined;
  }
}

/** Larger integers are rounded, and may then be out of range. */
function isLarge(value: unknown): boolean {
  return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

/** Numbers to nine digits: durations are printed to the nanosecond. */
function comparable(value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(9)) : value;
}
