import assert from "node:assert/strict";
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
  const base = new URL("/", address).href;
  const enter = async (url = address) => String((await send(url)).headers["set-cookie"]).split(";")[0] ?? "";
  return { serving, address, base, enter, asked };
}

test("the address is good once, for a cookie that scripts and other sites do not get", async (t) => {
  const { address, base, serving } = await served(t);
  const first = await send(address);
  assert.equal(first.status, 303);
  assert.match(String(first.headers["set-cookie"]), /HttpOnly; SameSite=Strict/);
  const again = await send(address);
  assert.equal(again.status, 403);
  assert.equal(again.headers["set-cookie"], undefined);
  const cookie = String(first.headers["set-cookie"]).split(";")[0] ?? "";
  assert.equal((await send(base, { headers: { cookie } })).status, 200);
  const next = serving.address();
  assert.equal((await send(next)).status, 303, "another address lets another browser in");
  assert.equal((await send(base, { headers: { cookie } })).status, 200, "and the first stays");
});

test("without the cookie nothing is told, on any path", async (t) => {
  const { base, asked } = await served(t);
  for (const path of ["", "stream", "open", "plan", "?token=", "?token=guess", "page.js"]) {
    const { status, body } = await send(`${base}${path}`);
    assert.ok(status === 401 || status === 403, `${path}: ${status}`);
    assert.doesNotMatch(body, /cluster|<title>/);
  }
  assert.equal((await send(`${base}plan`, { method: "POST", body: "{}" })).status, 401);
  assert.equal((await send(base, { headers: { cookie: "fairlead=guess" } })).status, 401);
  assert.deepEqual(asked, []);
});

test("a foreign Host or Origin gets nothing, even with the cookie", async (t) => {
  const { base, enter, asked } = await served(t);
  const cookie = await enter();
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
  const { base, enter } = await served(t);
  const { headers } = await send(base, { headers: { cookie: await enter() } });
  const policy = String(headers["content-security-policy"]);
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  assert.equal(headers["cache-control"], "no-store");
});

test("what is asked must be texts, and not too many", async (t) => {
  const { base, enter, asked } = await served(t);
  const headers = { cookie: await enter() };
  assert.equal((await send(`${base}plan`, { method: "POST", headers, body: '{"object":"service/shop/web"}' })).status, 200);
  for (const body of ["", "no JSON", '{"object":1}', '["a"'])
    assert.equal((await send(`${base}plan`, { method: "POST", headers, body })).status, 413);
  assert.equal((await send(`${base}plan`, { method: "PUT", headers, body: "{}" })).status, 405);
  assert.deepEqual(asked, [["/plan", { object: "service/shop/web" }]]);
});

test("events are streamed as they come", async (t) => {
  const { base, enter } = await served(t);
  const { status, headers, body } = await send(`${base}stream`, { headers: { cookie: await enter() } });
  assert.deepEqual([status, headers["content-type"]], [200, "text/event-stream"]);
  assert.equal(body, 'event: graph\ndata: {"secret":"of the cluster"}\n\n');
});
