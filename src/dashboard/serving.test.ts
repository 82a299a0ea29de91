import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { type TestContext, test } from "node:test";
import { realWorld } from "../runtime/world.ts";
import { serveDashboard } from "./serving.ts";

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

function send(url: string, options: { method?: string; headers?: Record<string, string>; body?: string } = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { method = "GET", headers = {}, body } = options;
    const outgoing = request(url, { method, headers, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

async function served(t: TestContext) {
  const asked: unknown[] = [];
  const serving = await serveDashboard({
    random: realWorld().random,
    port: 0,
    files: { "/": { type: "text/html; charset=utf-8", body: "<title>Fairlead</title>" } },
    async *stream() {
      yield { event: "graph", value: { secret: "of the cluster" } };
    },
    async ask(path, input) {
      asked.push([path, input]);
      return { status: 200, value: {} };
    },
  });
  t.after(() => serving.close());
  const address = serving.address();
  const { origin } = new URL(address);
  const enter = async (url = address) => {
    const { headers } = await send(url);
    return { cookie: String(headers["set-cookie"]).split(";")[0] ?? "", base: `${origin}${headers.location}` };
  };
  return { serving, address, origin, enter, asked };
}

test("the address is good once, for a cookie that scripts and other sites do not get", async (t) => {
  const { address, origin, serving } = await served(t);
  const first = await send(address);
  assert.equal(first.status, 303);
  assert.match(String(first.headers["set-cookie"]), /HttpOnly; SameSite=Strict/);
  const again = await send(address);
  assert.equal(again.status, 403);
  assert.equal(again.headers["set-cookie"], undefined);
  const cookie = String(first.headers["set-cookie"]).split(";")[0] ?? "";
  const base = `${origin}${first.headers.location}`;
  assert.equal((await send(base, { headers: { cookie } })).status, 200);
  const next = serving.address();
  assert.equal((await send(next)).status, 303, "another address lets another browser in");
  assert.equal((await send(base, { headers: { cookie } })).status, 200, "and the first stays");
});

test("the cookie is for a folder that nobody can guess: browsers send cookies to every port of this machine", async (t) => {
  const [one, other] = [await served(t), await served(t)];
  const pathOf = async (address: string) => / Path=([^;]+)/.exec(String((await send(address)).headers["set-cookie"]))?.[1] ?? "";
  const paths = [await pathOf(one.address), await pathOf(other.address)];
  for (const path of paths) assert.match(path, /^\/[\w-]{32}\/$/);
  assert.notEqual(paths[0], paths[1], "and a second dashboard leaves the cookie of the first alone");
});

test("a link on another site leads to the page too: the browser keeps the cookie back until the step after", async (t) => {
  const { address } = await served(t);
  const { status, headers } = await send(address, { headers: { "sec-fetch-site": "cross-site" } });
  assert.deepEqual([status, headers.location], [200, undefined]);
  const path = / Path=([^;]+)/.exec(String(headers["set-cookie"]))?.[1];
  assert.equal(headers.refresh, `0; url=${path}`);
});

test("asking with HEAD, as those do who only look at a link, leaves the address good", async (t) => {
  const { address } = await served(t);
  assert.equal((await send(address, { method: "HEAD" })).headers["set-cookie"], undefined);
  assert.equal((await send(address)).status, 303);
});

test("without the cookie nothing is told, on any path", async (t) => {
  const { origin, enter, asked } = await served(t);
  const { base, cookie } = await enter();
  for (const from of [base, `${origin}/`]) {
    for (const path of ["", "stream", "open", "plan", "?token=", "?token=guess", "page.js"]) {
      const { status, body } = await send(`${from}${path}`);
      assert.ok(status === 401 || status === 403, `${path}: ${status}`);
      assert.doesNotMatch(body, /cluster|<title>/);
    }
  }
  assert.equal((await send(`${origin}/stream`, { headers: { cookie } })).status, 401, "the cookie alone, outside of its folder");
  assert.equal((await send(`${base}plan`, { method: "POST", body: "{}" })).status, 401);
  assert.equal((await send(base, { headers: { cookie: "fairlead=guess" } })).status, 401);
  assert.deepEqual(asked, []);
});

test("a foreign Host or Origin gets nothing, even with the cookie", async (t) => {
  const { enter, asked } = await served(t);
  const { base, cookie } = await enter();
  const port = new URL(base).port;
  const foreign: readonly Record<string, string>[] = [
    { cookie, host: `evil.example:${port}` },
    { cookie, host: "127.0.0.1" },
    { cookie, origin: "https://evil.example" },
    { cookie, origin: "null" },
    { cookie, "sec-fetch-site": "cross-site" },
  ];
  for (const headers of foreign) {
    const { status, body } = await send(`${base}stream`, { headers });
    assert.ok(status === 403 || status === 421, `${JSON.stringify(headers)}: ${status}`);
    assert.doesNotMatch(body, /of the cluster/);
    const posted = await send(`${base}plan`, { method: "POST", headers, body: "{}" });
    assert.ok(posted.status === 403 || posted.status === 421);
  }
  assert.deepEqual(asked, []);
});

test("the page may load nothing from elsewhere, and nobody may frame it", async (t) => {
  const { enter } = await served(t);
  const { base, cookie } = await enter();
  const { headers } = await send(base, { headers: { cookie } });
  const policy = String(headers["content-security-policy"]);
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  assert.equal(headers["cache-control"], "no-store");
});

test("what is asked must be texts, and not too many", async (t) => {
  const { enter, asked } = await served(t);
  const { base, cookie } = await enter();
  const headers = { cookie };
  assert.equal((await send(`${base}plan`, { method: "POST", headers, body: '{"object":"service/shop/web"}' })).status, 200);
  const tooLong = JSON.stringify({ manifest: "x".repeat(3 * 1024 * 1024) });
  for (const body of ["", "no JSON", '{"object":1}', '["a"', tooLong])
    assert.equal((await send(`${base}plan`, { method: "POST", headers, body })).status, 413);
  assert.equal((await send(`${base}plan`, { method: "PUT", headers, body: "{}" })).status, 405);
  assert.deepEqual(asked, [["/plan", { object: "service/shop/web" }]]);
});

test("events are streamed as they come", async (t) => {
  const { enter } = await served(t);
  const { base, cookie } = await enter();
  const { status, headers, body } = await send(`${base}stream`, { headers: { cookie } });
  assert.deepEqual([status, headers["content-type"]], [200, "text/event-stream"]);
  assert.equal(body, 'event: graph\ndata: {"secret":"of the cluster"}\n\n');
});

test("a page that is closed while it is still being told is followed no longer", { timeout: 10_000 }, async (t) => {
  const ended = Promise.withResolvers<void>();
  const serving = await serveDashboard({
    random: realWorld().random,
    port: 0,
    files: {},
    async *stream() {
      try {
        for (;;) yield { event: "graph", value: "x".repeat(8 * 1024 * 1024) };
      } finally {
        ended.resolve();
      }
    },
    ask: async () => ({ status: 200, value: {} }),
  });
  t.after(() => serving.close());
  const address = serving.address();
  const { headers } = await send(address);
  const cookie = String(headers["set-cookie"]).split(";")[0] ?? "";
  const reading = request(`${new URL(address).origin}${headers.location}stream`, { headers: { cookie }, agent: false });
  reading.on("error", () => {});
  reading.end();
  const [answer] = await once(reading, "response");
  answer.pause();
  await once(answer, "readable");
  reading.destroy();
  await ended.promise;
});

test("a port that another program has is named", async (t) => {
  const { origin } = await served(t);
  const options = {
    random: realWorld().random,
    port: Number(new URL(origin).port),
    files: {},
    ask: async () => ({ status: 200, value: {} }),
  };
  await assert.rejects(
    serveDashboard({ ...options, async *stream() {} }),
    /cannot listen on 127\.0\.0\.1:\d+: another program listens there/,
  );
});
