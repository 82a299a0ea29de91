import assert from "node:assert/strict";
import { test } from "node:test";
import { isLibraryMissing } from "./node-library.ts";

test("the library is looked for where systems have it, and Node is tried only where it is not", () => {
  let tries = 0;
  const starts = (answer: boolean) => () => {
    tries++;
    return answer;
  };
  assert.equal(
    isLibraryMissing("linux", (path) => path === "/usr/lib64/libatomic.so.1", starts(false)),
    false,
  );
  assert.equal(
    isLibraryMissing("darwin", () => false, starts(false)),
    false,
  );
  assert.equal(tries, 0);
  assert.equal(
    isLibraryMissing("linux", () => false, starts(true)),
    false,
    "a system with folders of its own",
  );
  assert.equal(
    isLibraryMissing("linux", () => false, starts(false)),
    true,
  );
});
