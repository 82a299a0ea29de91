/**
 * The page of a large cluster in a real browser: how soon it is there, what it takes, and whether it stays smooth.
 *
 *     npm run bench dashboard
 *
 * Needs chromium. The cluster is made up: what is measured is the page, from the first byte on.
 */
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { changeBetween, type Entry, type Graph, graphOf, type Kind } from "../src/dashboard/graph.ts";
import { pageFiles } from "../src/dashboard/page-files.ts";
import { serveDashboard } from "../src/dashboard/serving.ts";
import { realWorld, sleep } from "../src/runtime/world.ts";

const sizes = { nodes: 5_000, ingresses: 900, groups: 90 };

function entry(kind: Kind, id: string, to: readonly string[], text: string): Entry {
  const facts = { zone: "eu-west-1a", type: "m7i.2xlarge", addresses: `10.0.${id.length}.4`, address: `${id}.example.com` };
  return { thing: { id, kind, name: id, state: "good", text, facts }, to };
}

/** A cluster whose nodes come and go: `turn` is how often that has happened. */
function cluster(turn: number): Graph {
  const entries: Entry[] = [];
  for (let n = 0; n < sizes.nodes; n++) {
    const busy = (n + turn) % 97 === 0;
    const node = entry("node", `node/ip-10-0-${n >> 8}-${n & 255}.ec2.internal`, [`i-${n}`], busy ? "its kubelet is silent" : "ready");
    entries.push(busy ? { ...node, thing: { ...node.thing, state: "bad" } } : node);
    entries.push(entry("instance", `i-${n}`, [`vol-${n}`, `route-${n}`], "m7i.2xlarge, running"));
    entries.push(entry("volume", `vol-${n}`, [], "80 GiB gp3, in-use"), entry("route", `route-${n}`, [], "active"));
  }
  for (let n = 0; n < sizes.ingresses; n++) {
    entries.push(entry("ingress", `ingress/shop/web-${n}`, [`lb-${n % sizes.groups}`], "k8s-shop.elb.amazonaws.com"));
    entries.push(entry("target-group", `tg-${n}`, [], "3 of 3 targets healthy"));
  }
  for (let n = 0; n < sizes.groups; n++) {
    const groups = Array.from({ length: sizes.ingresses / sizes.groups }, (_, k) => `tg-${n + k * sizes.groups}`);
    entries.push(entry("balancer", `lb-${n}`, groups, "application, internet-facing"));
  }
  return graphOf(entries, new Map());
}

const world = realWorld();
const serving = await serveDashboard({
  random: world.random,
  port: 0,
  files: await pageFiles(),
  async *stream(signal) {
    let known = cluster(0);
    yield { event: "graph", value: known };
    for (let turn = 1; !signal.aborted; turn++) {
      await sleep(world.clock, 500, signal);
      const next = cluster(turn);
      yield { event: "change", value: changeBetween(known, next) };
      known = next;
    }
  },
  ask: async () => ({ status: 200, value: {} }),
});
const browser = await chromium.launch({ channel: "chromium", executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
const protocol = await page.context().newCDPSession(page);
await protocol.send("Performance.enable");
const begun = performance.now();
await page.goto(serving.address());
await page.getByText(`Nodes: ${sizes.nodes}`).waitFor();
const loadedMs = performance.now() - begun;
await page.evaluate(
  `window.long = []; new PerformanceObserver((list) => window.long.push(...list.getEntries().map((e) => e.duration))).observe({ type: "longtask" })`,
);
await page.getByRole("button", { name: `Nodes: ${sizes.nodes}` }).click();
const list = page.locator(".list");
for (let step = 0; step < 50; step++) await list.evaluate((element) => element.scrollBy(0, 700));
await page.getByRole("searchbox").fill("web-77");
await page.locator(".found .row").first().click();
await page.waitForTimeout(3_000);
const long = (await page.evaluate("window.long")) as readonly number[];
await protocol.send("HeapProfiler.collectGarbage");
const { metrics } = await protocol.send("Performance.getMetrics");
/** What the processes of pages have to themselves: the libraries that all of the browser shares are not theirs. */
const { processInfo } = await (await browser.newBrowserCDPSession()).send("SystemInfo.getProcessInfo");
const ownMb = processInfo
  .filter(({ type }) => type === "renderer")
  .map(({ id }) => readFileSync(`/proc/${id}/smaps_rollup`, "utf8"))
  .flatMap((text) => [...text.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].map(([, kb]) => Number(kb) / 1e3))
  .reduce((sum, mb) => sum + mb, 0);
const value = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
console.log(`${sizes.nodes} nodes, ${sizes.ingresses} Ingresses`);
console.log(`the page is there after        ${loadedMs.toFixed(0)} ms`);
console.log(`memory of its scripts          ${(value("JSHeapUsedSize") / 1e6).toFixed(1)} MB`);
console.log(`memory of the page's process   ${ownMb.toFixed(0)} MB`);
console.log(`elements                       ${value("Nodes")}`);
console.log(`layout, in all                 ${(value("LayoutDuration") * 1000).toFixed(0)} ms in ${value("LayoutCount")} layouts`);
console.log(`tasks longer than 50 ms        ${long.length}${long.length > 0 ? `, the longest ${Math.max(...long).toFixed(0)} ms` : ""}`);
await browser.close();
await serving.close();
