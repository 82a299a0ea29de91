import assert from "node:assert/strict";
import { test } from "node:test";
import type { Host } from "../runtime/host.ts";
import type { HttpRequest, HttpResponse } from "../runtime/http.ts";
import { openLogs } from "../runtime/logs.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import type { NodeState } from "./node-states.ts";
import type { PlannedEvent } from "./plan.ts";
import { openWebhook, WebhookInvalid, type WebhookSettings } from "./webhook.ts";

const settings: WebhookSettings = {
  url: "https://hooks.example.org/services/T0/secret",
  headers: '{"Content-type":"application/json","X-Team":"a"}',
  template: '{"text":"{{ .Kind }} {{ .NodeName }} {{ .InstanceID }}"}',
  templateFile: "",
};
const node = { name: "n", instanceId: "i-1", labels: {}, addresses: [] } as unknown as NodeState;
const event: PlannedEvent = { id: "e", kind: "spot", policy: "drain", description: "why", startTime: 0 };
const { signal } = new AbortController();

function bed(answer: (request: HttpRequest) => Promise<number>) {
  const world = virtualWorld(1, { files: { "/config/template": "from the file" } });
  const lines: string[] = [];
  const { log } = openLogs(world.clock, { format: "json", verbosity: 0, destination: { write: (line) => lines.push(line), flush() {} } });
  const host: Host = { world, log, metrics: newRegistry() };
  const requests: HttpRequest[] = [];
  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    requests.push(request);
    return { status: await answer(request), headers: {}, body: nothing() };
  };
  return { world, lines, requests, open: (more: Partial<WebhookSettings> = {}) => openWebhook(host, send, { ...settings, ...more }) };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

test("body, headers and path are as configured", async () => {
  const { requests, open, lines } = bed(async () => 204);
  await (await open())(node, event, signal);
  assert.deepEqual(
    requests.map(({ method, url, headers, body }) => [method, url.href, headers, body]),
    [["POST", settings.url, { "content-type": "application/json", "x-team": "a" }, '{"text":"SPOT_ITN n i-1"}']],
  );
  assert.ok(lines.some((line) => line.includes("Webhook Success: Notification Sent!")));
});

test("pods and what is known of the own machine are in it", async () => {
  const world = virtualWorld(1);
  const bodies: unknown[] = [];
  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    bodies.push(request.body);
    return { status: 200, headers: {}, body: nothing() };
  };
  const { log } = openLogs(world.clock, { format: "json", verbosity: 0, destination: { write() {}, flush() {} } });
  const template = "{{ .AccountId }} {{ .InstanceLifeCycle }} {{ toJson .Pods }}";
  const own = () => ({ "account-id": "111122223333", "instance-life-cycle": "spot" });
  const post = await openWebhook({ world, log, metrics: newRegistry() }, send, { ...settings, template }, own);
  await post(node, event, signal, ["web-0", "web-1"]);
  assert.deepEqual(bodies, ['111122223333 spot ["web-0","web-1"]']);
});

test("the file of the template wins, and is read for every post", async () => {
  const { requests, open, world } = bed(async () => 200);
  const post = await open({ templateFile: "/config/template" });
  await post(node, event, signal);
  await world.files.write("/config/template", "another one for {{ .NodeName }}", 0o600);
  await post(node, event, signal);
  assert.deepEqual(
    requests.map(({ body }) => body),
    ["from the file", "another one for n"],
  );
});

test("what cannot work is refused at the start, and nothing is posted", async () => {
  const { requests, open } = bed(async () => 200);
  const wrong: readonly Partial<WebhookSettings>[] = [
    { url: "not a url" },
    { headers: "not json" },
    { headers: '{"x":1}' },
    { headers: "[]" },
    { template: "{{ .NoSuchField }}" },
    { template: "{{ range .Pods }}{{ end }}" },
    { templateFile: "/config/none" },
  ];
  for (const each of wrong) await assert.rejects(open(each), WebhookInvalid, JSON.stringify(each));
  assert.equal(requests.length, 0);
});

test("a refusal is not repeated, a failure of the server is, three times in all, and neither fails the drain", async () => {
  const refused = bed(async () => 404);
  await (await refused.open())(node, event, signal);
  assert.equal(refused.requests.length, 1);
  const failing = bed(async () => 503);
  const posting = (await failing.open())(node, event, signal);
  await failing.world.advance(60_000);
  await posting;
  assert.equal(failing.requests.length, 3);
});

test("a server that does not answer is given up after five seconds, and no line of the log holds the address", async () => {
  const { open, world, requests, lines } = bed(() => new Promise(() => {}));
  const posting = (await open())(node, event, signal);
  await world.advance(30_000);
  await posting;
  assert.equal(requests.length, 3);
  assert.ok(lines.length > 0 && lines.every((line) => !line.includes("secret")), lines.join("\n"));
});
