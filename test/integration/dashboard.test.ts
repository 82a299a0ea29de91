/** The dashboard in a real browser, over the running sandbox: every view, in light and dark, wide and narrow, and what faults look like. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import type { Dashboard } from "../../src/dashboard/dashboard.ts";
import { pageFiles } from "../../src/dashboard/page-files.ts";
import { services } from "../../src/kube/builtin.ts";
import { ingresses } from "../../src/loadbalancers/ingress/seen.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { openSandboxDashboard } from "../../src/sandbox/dashboard.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { keys } from "../../src/sandbox/settings.ts";

const program = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "chromium"))
  .find((path) => isExecutable(path));
const skip = program === undefined && "there is no chromium on this machine: apt-get install chromium";
/** Where pictures for the documentation go, if they are wanted. */
const pictures = process.env.FAIRLEAD_PICTURES;

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const stop = new AbortController();
let browser: Browser;
let sandbox: Sandbox;
let dashboard: Dashboard;

before(async () => {
  if (skip) return;
  browser = await chromium.launch({ executablePath: program!, args: ["--no-sandbox"] });
  const ports = { kubernetes: 0, aws: 0 };
  sandbox = await startSandbox({ world: realWorld(), cluster: "embedded", nodes: 3, withProviderId: false, ports, say: () => {} });
  dashboard = await openSandboxDashboard(sandbox, stop.signal);
  dashboard.ended.catch(() => {});
  await makeObjects();
});

after(async () => {
  if (skip) return;
  stop.abort(new Error("the test ends"));
  await browser?.close();
  await dashboard?.close();
  await sandbox?.close();
});

const namespace = "default";

async function makeObjects(): Promise<void> {
  const ports = [{ port: 80, targetPort: 8080 }];
  await sandbox.kube.create(services, {
    metadata: { namespace, name: "shop" },
    spec: { type: "NodePort", selector: { app: "shop" }, ports },
  });
  await sandbox.kube.create(services, {
    metadata: { namespace, name: "web", annotations: { "service.beta.kubernetes.io/aws-load-balancer-type": "nlb" } },
    spec: { type: "LoadBalancer", selector: { app: "web" }, ports },
  });
  await sandbox.kube.create(ingresses, ingress("shop", {}));
}

function ingress(name: string, annotations: Readonly<Record<string, string>>) {
  const backend = { service: { name: "shop", port: { number: 80 } } };
  const paths = [{ path: "/", pathType: "Prefix" as const, backend }];
  return {
    metadata: { namespace, name, annotations },
    spec: { ingressClassName: "alb", rules: [{ host: `${name}.example.com`, http: { paths } }] },
  };
}

interface Seen {
  readonly page: Page;
  readonly complaints: readonly string[];
  /** Everything that the server has sent. */
  readonly received: readonly string[];
}

/** A page in a browser that has never been here. */
async function open(look: { readonly width?: number; readonly dark?: boolean } = {}): Promise<Seen> {
  const { width = 1280, dark = false } = look;
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: dark ? "dark" : "light" });
  const page = await context.newPage();
  const complaints: string[] = [];
  const received: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on(
    "response",
    (answer) =>
      void answer.text().then(
        (text) => received.push(text),
        () => {},
      ),
  );
  await page.goto(dashboard.address());
  await page.getByText("Nodes: 3").waitFor({ timeout: 60_000 });
  return { page, complaints, received };
}

const view = (page: Page, name: string) => page.getByRole("navigation").getByRole("button", { name }).click();

/** What each view must show of the sandbox. */
const views: readonly { readonly name: string; readonly shows: (page: Page) => Promise<void> }[] = [
  {
    name: "Map",
    async shows(page) {
      await page
        .getByRole("button", { name: "Load balancers: 2" })
        .waitFor({ timeout: 30_000 })
        .catch(async (error: unknown) => {
          throw new Error(await page.innerText("main"), { cause: error });
        });
      await page.getByRole("button", { name: "Ingresses: 1" }).waitFor();
    },
  },
  {
    name: "Now",
    async shows(page) {
      await page.getByText("cloud-node-lifecycle-controller").first().waitFor();
      await page.getByText("leads", { exact: true }).waitFor();
      await page.getByText("What is done, and why").waitFor();
    },
  },
  {
    name: "Plan",
    async shows(page) {
      await page.locator("main button", { hasText: "Plan" }).click();
      await page.locator("pre", { hasText: "service" }).waitFor({ timeout: 60_000 });
    },
  },
  {
    name: "Trouble",
    async shows(page) {
      await page.locator("main", { hasText: /Nothing is wrong|since/ }).waitFor();
    },
  },
  {
    name: "Cost",
    async shows(page) {
      await page.getByRole("cell", { name: "ec2:DescribeInstances" }).first().waitFor();
      await page.getByText("What AWS charges for").waitFor();
    },
  },
];

for (const look of [
  { width: 1280, dark: false },
  { width: 1280, dark: true },
  { width: 400, dark: false },
  { width: 400, dark: true },
]) {
  test(`every view, ${look.width} pixels wide, ${look.dark ? "dark" : "light"}`, { skip }, async () => {
    const { page, complaints } = await open(look);
    for (const { name, shows } of views) {
      await view(page, name);
      await shows(page);
      const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
      assert.equal(wide, 0, `${name} is wider than the window`);
      if (pictures)
        await page.screenshot({ path: join(pictures, `dashboard-${name.toLowerCase()}-${look.width}${look.dark ? "-dark" : ""}.png`) });
    }
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
}

test("an Ingress is found by its host, and leads to its load balancer, listener, rule and targets", { skip }, async () => {
  const { page, complaints } = await open();
  await page.getByRole("searchbox").fill("shop.example.com");
  await page.locator(".found .row", { hasText: "default/shop" }).first().click();
  for (const column of ["Ingresses", "Load balancers", "Listeners", "Rules", "Target groups", "Targets", "Instances"]) {
    await page.locator(".map .column", { hasText: column }).first().waitFor({ timeout: 60_000 });
  }
  await page.locator(".map .box", { hasText: "HTTP 80" }).click();
  await page.getByRole("heading", { name: /Listener HTTP 80/ }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: /Ingress default\/shop/ }).waitFor();
  if (pictures) await page.screenshot({ path: join(pictures, "dashboard-ingress.png") });
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test("the keyboard is enough: / searches, Tab and Enter go on, numbers choose a view", { skip }, async () => {
  const { page } = await open();
  await page.keyboard.press("/");
  await page.keyboard.type("default/web");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /Service default\/web/ }).waitFor();
  await page.keyboard.press("5");
  await page.getByText("What AWS charges for").waitFor();
  await page.context().close();
});

test("a manifest that does not exist yet is planned, and nothing is made", { skip }, async () => {
  const { page } = await open();
  await view(page, "Plan");
  const manifest =
    "apiVersion: v1\nkind: Service\nmetadata: {name: new, namespace: default}\nspec: {type: LoadBalancer, ports: [{port: 443}]}\n";
  await page.getByRole("textbox", { name: "A manifest" }).fill(manifest);
  await page.getByRole("button", { name: "Plan this manifest" }).click();
  await page.locator("pre", { hasText: "create" }).waitFor({ timeout: 60_000 });
  const { items } = await sandbox.kube.list(services, { namespace });
  assert.ok(!items.some(({ metadata }) => metadata.name === "new"));
  await page.context().close();
});

test("each fault is on the page, in words that say what to do", { skip }, async (t) => {
  const { page, complaints } = await open();
  await view(page, "Trouble");
  const banner = (text: string | RegExp) => page.locator(".banner", { hasText: text });
  const told = async (fault: string, work: () => Promise<unknown>, text: string | RegExp, remedy: RegExp) => {
    const begun = performance.now();
    await work();
    await banner(text).first().waitFor({ timeout: 60_000 });
    t.diagnostic(`${fault}: on the page after ${Math.round(performance.now() - begun)} ms`);
    assert.match(await banner(text).first().locator(".remedy").innerText(), remedy, fault);
    if (pictures) await page.screenshot({ path: join(pictures, `dashboard-trouble-${fault.replaceAll(" ", "-")}.png`) });
  };
  const bad = ingress("bad", { "alb.ingress.kubernetes.io/scheme": "sideways" });
  await told("a bad Ingress", () => sandbox.kube.create(ingresses, bad), "sideways", /\w/);
  await sandbox.kube.delete(ingresses, { namespace, name: "bad" });
  await banner("sideways").waitFor({ state: "detached", timeout: 60_000 });

  const service = (name: string) =>
    sandbox.kube.create(services, {
      metadata: { namespace, name },
      spec: { type: "LoadBalancer", selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] },
    });
  await told(
    "throttling",
    async () => {
      sandbox.throttle(true);
      await service("slow");
    },
    "AWS throttles",
    /slows down by itself/,
  );
  sandbox.throttle(false);

  const message = "Not enough IP space available in subnet-1. ELB requires at least 8 free IP addresses in each subnet.";
  const full = sandbox.cloud.controls.faults.add({
    action: "*:CreateLoadBalancer",
    effect: { kind: "fail", code: "InvalidSubnet", message, status: 400 },
  });
  await told("a full subnet", () => service("crowded"), "Not enough IP space", /\w/);
  sandbox.cloud.controls.faults.remove(full);

  const leader = sandbox.replicas.leader()!;
  await told("a leader that is killed", async () => sandbox.replicas.kill(leader.name), "A process does not answer", /takes over/);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test("other servers on this machine are not sent the cookie", { skip }, async (t) => {
  const { page } = await open();
  const cookies: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    cookies.push(request.headers.cookie);
    response.writeHead(200, { "content-type": "text/html" }).end("<title>other</title>");
  });
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
  await page.evaluate(() => fetch("/again"));
  assert.ok(cookies.length >= 2);
  assert.deepEqual(new Set(cookies), new Set([undefined]));
  await page.context().close();
});

test("no secret reaches the browser", { skip }, async () => {
  const { page } = await open();
  const text = await page.evaluate(async () => {
    const reader = (await fetch("stream")).body!.getReader();
    const decoder = new TextDecoder();
    let all = "";
    while (!all.includes("event: moment\n") || !all.endsWith("\n\n")) all += decoder.decode((await reader.read()).value, { stream: true });
    await reader.cancel();
    return all;
  });
  assert.match(text, /"kind":"node"/);
  assert.doesNotMatch(text, new RegExp(`${keys.secret}"|${keys.fairlead}|Bearer|eyJ`));
  await page.context().close();
});

test("the page is small, and asks nobody else", async () => {
  const files = Object.values(await pageFiles());
  const bytes = files.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
  assert.ok(bytes < 150 * 1024, `${bytes} bytes`);
  for (const { body } of files) assert.doesNotMatch(body.replaceAll("http://www.w3.org/2000/svg", ""), /https?:\/\//);
});
