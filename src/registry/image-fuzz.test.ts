import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { seededRandom } from "../sandbox/seeded-random.ts";
import { registryAt } from "./hosts.ts";
import { ImageUnreadable, imageHost } from "./image.ts";

/** What names are made of: hosts, delimiters, escapes, and everything that parsers disagree about. */
const pieces = [
  "123456789012.dkr.ecr.us-west-2.amazonaws.com",
  "public.ecr.aws",
  "a",
  "A",
  "é",
  "/",
  "//",
  "///",
  ":",
  "::",
  "://",
  "https://",
  "HTTP://",
  "oci+x://",
  "1x://",
  "@",
  "user:pw@",
  "[",
  "]",
  "[::1]",
  "[fe80::1%25en0]",
  "[::ffff:1.2.3.4]",
  "%",
  "%25",
  "%41",
  "%c3%a9",
  "%zz",
  "%2",
  "?",
  "#",
  "?q=%zz",
  "#%zz",
  "#f",
  ".",
  "..",
  "-",
  "_",
  "~",
  "!",
  "$",
  "&",
  "'",
  "(",
  ")",
  "*",
  "+",
  ",",
  ";",
  "=",
  "<",
  ">",
  '"',
  "\\",
  "^",
  "`",
  "{",
  "|",
  "}",
  " ",
  "\t",
  "\u0000",
  "\u007f",
  "\u0085",
  "80",
  "443",
  "99999999",
  "0",
  "sha256:abcd",
  "team/app",
  "\ud83d\ude00",
];

/** The names, always the same. */
function* names(count: number): Generator<string> {
  const random = seededRandom(11);
  for (let index = 0; index < count; index++) {
    const length = 1 + Math.floor(random.number() * 6);
    let name = "";
    for (let piece = 0; piece < length; piece++) name += pieces[Math.floor(random.number() * pieces.length)];
    yield name;
  }
}

/**
 * What Go 1.26's url.Parse makes of them, for a hundred names each: the start of the SHA-256 of the verdicts, one on a
 * line, `["Hostname()","Host"]` or `error`.
 */
const observed = `
  d26cf11f 9216cbe0 3ef0b280 09dcb31f 45b81d0f 692f8090 841a9443 3d3cc98d e1caa526 6c0dffbb 1fe0b1ff 806cc0bc 34da108f a70f4cde
  f0a89850 3637f40d 5aca43a3 2f514fd9 b8aaa5c3 8357bde8 7aa401d4 7a0fa3f1 b9db26a5 70f0f03e 95e953d7 096c2a7b 2fa178a7 e46f5e1e
  aef27eae 5160d276 a74d637e 70fa8435 13c0f149 ed410985 08c8e7df 2ce4de94 b65a337c 54a0b507 dc4a36f8 29f4dce3 6d78a49e 95045b96
  b785573b 9f59a7b4 65abc463 7db3eb64 e1909986 b73571aa 597f20b6 777a6bf7 f38287c4 4611a2ed 3dbe6a12 c961a0fd 92659cb8 4b22eb29
  5347c7d9 0fffa23d 36d137c3 eed19866 2ec683e3 2aafd529 21fd6503 22293dd7 c8824dc2 f46c0579 01b915ce 3d051c28 857aab85 b37a8540
  9a75d73f eac6adde 97185cfd 3de5032a 6394185c 551504d9 91a4eec8 e0291f42 e74ab76c 1b942f9b 64fa2612 e7d0b18b f26f1957 5880b79c
  11bf9c28 10c068a7 0958bcc8 53a44dfb 3b1b39d6 0318c34f 4d96d24b d431e1e1 80459523 12cafa15 1cfb1dfc 56c61f24 6dd78df8 cf9a412c
  234e3410 0a95f4aa f3b48233 7d9e2354 258c6687 eb54622d 3a6634c3 62bf01fc 672c4635 c82487a0 15d9df6a 2eecefc0 e63464f2 34d4ebbd
  255ea488 83f1ab22 e6130962 282b8dc1 f5fa0d7a e59e5078 b2528fcb 8dfc04da c737b81e 0e92fc23 9851d57d 66113905 57a1241a 6b966fa9
  2cbeef17 1040758f e5b7d729 f2c17b85 6dfa4591 99926466 f4a613f6 479d7d44 f4406fa2 28d02bc1 64c73c2b 902d6996 d8cfe7d9 5342554b
  ef3ebec5 8f1759c1 9f93f7ff d9461f9f 996c07d0 bb82090d b41c7854 68db3ff2 d2ca6b66 e8620507 ef9c978c c13fd082 5a16248c d2324aae
  5d55bec0 58d5c6d9 494759cf 64955fa9 dd69e3a9 b6a1a9fd 6e508c11 79261b44 ab7a6839 7cd8a774 32e3301d 875e2c90 a284c1e1 41b42535
  7d1099b9 c6f8d4bf 2ec97c6e 7e67fa06 fddcdbd8 80a6c8d2 c8d2b039 1ca16eac b99d0972 18d172b5 3b26a356 580a5a49 cf2443c6 dbd7b7b6
  fdad1ae5 cd8e23c1 b90a7c20 fda61d13 5057a53e 503b5ad3 c3ac4069 7a24cdc7 7c4fb61e 2e0f9c06 0de6d0c9 e7dda4f5 ba01c76d bafa4e2e
  5bc3fe14 81410a77 00a3612b 3dec1ec9`
  .trim()
  .split(/\s+/);

const verdict = (name: string): string => {
  try {
    const { host, key } = imageHost(name);
    return JSON.stringify([host, key]);
  } catch (error) {
    assert.ok(error instanceof ImageUnreadable, `${JSON.stringify(name)}: ${String(error)}`);
    return "error";
  }
};

test("twenty thousand odd names have the host that Go finds in them, or none where Go refuses them", () => {
  const all = [...names(20_000)];
  assert.equal(observed.length, 200);
  for (const [block, expected] of observed.entries()) {
    const some = all.slice(block * 100, block * 100 + 100);
    const found = createHash("sha256").update(some.map(verdict).join("\n")).digest("hex").slice(0, 8);
    assert.equal(found, expected, `one of ${JSON.stringify(some)}`);
  }
});

test("whatever surrounds it, a name is taken for a registry only when its host is one", () => {
  let taken = 0;
  for (const name of names(20_000)) {
    const found = verdict(name);
    if (found === "error") continue;
    const [host] = JSON.parse(found) as [string];
    if (registryAt(host) === undefined) continue;
    taken++;
    // Between scheme, user and the first slash stands nothing but the host and a port.
    const authority = name.replace(/^[^/?#]*:\/\//, "").split(/[/?#]/, 1)[0]!;
    assert.match(authority, new RegExp(`^([^@]*@)*${RegExp.escape(host)}(:\\d*)?$`), JSON.stringify(name));
  }
  assert.ok(taken > 100, `${taken} taken`);
});
