import assert from "node:assert/strict";
import { test } from "node:test";
import { realWorld } from "../runtime/world.ts";
import { instancesPage } from "./instance.ts";
import { fields, list, ScanFailed, Scanner, type Shape, scanBody, text } from "./scan.ts";

const shape = fields({ name: text, inner: fields({ note: text }), tagSet: list(fields({ key: text, value: text })) });

const document = `<?xml version="1.0" encoding="UTF-8"?>
<!-- a > comment --><Answer xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
  <ignored><name>not this</name><inner><deep/></inner></ignored>
  <name>a &lt;b&gt; &amp; &#233;&#x1F600; größe &valueOf;</name><empty/>
  <inner><other>x</other><note><![CDATA[1 < 2 &amp; so]]></note></inner>
  <tagSet><item><key>k</key><value></value></item><item><key>k2</key><value>ü</value></item><item/></tagSet>
</Answer>
`;

const expected = {
  name: "a <b> & é😀 größe &valueOf;",
  inner: { note: "1 < 2 &amp; so" },
  tagSet: [{ key: "k", value: "" }, { key: "k2", value: "ü" }, {}],
};

test("named fields are kept and everything else is passed over", () => {
  assert.deepEqual(scan(shape, [Buffer.from(document)]), expected);
});

test("the answer is the same wherever the chunks are cut", () => {
  const bytes = Buffer.from(document);
  for (let cut = 0; cut <= bytes.length; cut++)
    assert.deepEqual(scan(shape, [bytes.subarray(0, cut), bytes.subarray(cut)]), expected, `cut at ${cut}`);
  assert.deepEqual(
    scan(
      shape,
      [...bytes].map((byte) => Uint8Array.of(byte)),
    ),
    expected,
  );
});

test("an answer that is cut off is an error, never a shorter answer", () => {
  const bytes = Buffer.from(document.trimEnd());
  for (let length = 0; length < bytes.length; length++) assert.throws(() => scan(shape, [bytes.subarray(0, length)]), ScanFailed);
});

test("a chunk whose memory is used again does no harm", () => {
  const scanner = new Scanner(shape);
  const memory = Buffer.alloc(7);
  const bytes = Buffer.from(document);
  for (let at = 0; at < bytes.length; at += memory.length) {
    const length = bytes.copy(memory, 0, at, at + memory.length);
    scanner.feed(memory.subarray(0, length));
  }
  assert.deepEqual(scanner.end(), expected);
});

test("a thousand instances of ten kilobytes are read without holding the event loop", async () => {
  const padding =
    "<blockDeviceMapping><item><deviceName>/dev/xvda</deviceName><ebs><volumeId>vol-0</volumeId></ebs></item></blockDeviceMapping>";
  const items = Array.from(
    { length: 1000 },
    (_, n) => `<item><instancesSet><item><instanceId>i-${n}</instanceId>${padding.repeat(80)}</item></instancesSet></item>`,
  );
  const answer = Buffer.from(`<R><reservationSet>${items.join("")}</reservationSet></R>`);
  assert.ok(answer.length > 9_000_000);
  let turns = 0;
  const world = realWorld();
  const clock = {
    ...world.clock,
    after(ms: number, callback: () => void) {
      turns++;
      return world.clock.after(ms, callback);
    },
  };

  const page = await scanBody(
    (async function* () {
      yield answer;
    })(),
    instancesPage,
    clock,
  );

  assert.equal(page.items.length, 1000);
  assert.equal(page.items[999]?.id, "i-999");
  assert.ok(turns >= 15, `the event loop turned ${turns} times`);
});

function scan<T>(wanted: Shape<T>, chunks: readonly Uint8Array[]): T {
  const scanner = new Scanner(wanted);
  for (const chunk of chunks) scanner.feed(chunk);
  return scanner.end();
}
