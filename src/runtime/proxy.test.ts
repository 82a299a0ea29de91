import assert from "node:assert/strict";
import { test } from "node:test";
import { proxyFor } from "./proxy.ts";

const urls = [
  "https://example.com",
  "https://sub.example.com",
  "https://sub.example.com:8443",
  "http://example.com",
  "https://notexample.com",
  "https://EXAMPLE.com.",
  "https://10.1.2.3",
  "https://10.1.2.3:6443",
  "https://11.0.0.1",
  "https://[fd00::1]",
  "https://[fd00::1]:6443",
  "https://[fe80::1]",
  "https://localhost:6443",
  "https://127.0.0.1",
  "https://127.9.9.9:1",
  "https://[::1]:1",
  "https://[::ffff:10.1.2.3]",
  "https://kubernetes.default.svc",
  "https://169.254.169.254",
];

/** An entry of NO_PROXY, and for each URL whether Go 1.26's net/http passes the proxy (p) or goes straight (.). Observed. */
const observed: readonly (readonly [noProxy: string, straight: string])[] = [
  ["", "pppppppppppp....ppp"],
  ["*", "..................."],
  ["example.com", "....pppppppp....ppp"],
  [".example.com", "p..ppppppppp....ppp"],
  ["*.example.com", "p..ppppppppp....ppp"],
  ["*example.com", "pppppppppppp....ppp"],
  ["EXAMPLE.com", "....pppppppp....ppp"],
  ["example.com:443", "..pppppppppp....ppp"],
  ["example.com:8443", "pp.ppppppppp....ppp"],
  [".example.com:8443", "pp.ppppppppp....ppp"],
  ["*.example.com:443", "p.pppppppppp....ppp"],
  ["ample.com", "pppppppppppp....ppp"],
  [" example.com , other.com ", "....pppppppp....ppp"],
  ["com", ".....ppppppp....ppp"],
  [".", "ppppp.pppppp....ppp"],
  ["example.com:", "....pppppppp....ppp"],
  [":443", "pppppppppppp....ppp"],
  ["10.0.0.0/8", "pppppp..pppp.....pp"],
  ["10.1.2.3", "pppppp..pppp.....pp"],
  ["10.1.2.3:6443", "ppppppp.pppp....ppp"],
  ["10.1.2.3:443", "pppppp.ppppp.....pp"],
  ["10.1.2.3/32", "pppppp..pppp.....pp"],
  ["10.0.0.0/33", "pppppppppppp....ppp"],
  ["10.", "pppppppppppp....ppp"],
  ["fd00::/8", "ppppppppp..p....ppp"],
  ["fd00::1", "ppppppppp..p....ppp"],
  ["[fd00::1]", "pppppppppppp....ppp"],
  ["[fd00::1]:6443", "pppppppppp.p....ppp"],
  ["[fd00::1]:443", "ppppppppp.pp....ppp"],
  ["fd00::1:6443", "pppppppppppp....ppp"],
  ["::/0", "ppppppppp.......ppp"],
  ["0.0.0.0/0", "pppppp...ppp.....p."],
  ["::ffff:10.1.2.3", "pppppp..pppp.....pp"],
  [".svc", "pppppppppppp....p.p"],
  ["default", "pppppppppppp....ppp"],
  ["169.254.0.0/16,example.com", "....pppppppp....pp."],
  ["*,example.com", "..................."],
  ["x,*", "..................."],
  ["https://example.com", "pppppppppppp....ppp"],
  ["sub.*.com", "pppppppppppp....ppp"],
  ["localhost", "pppppppppppp....ppp"],
];

test("NO_PROXY excepts what Go's programs except", () => {
  for (const [entry, expected] of observed) {
    const environment = { https_proxy: "proxy:3128", HTTP_PROXY: "http://proxy:3128", NO_PROXY: entry };
    const found = urls.map((url) => (proxyFor(new URL(url), environment) === undefined ? "." : "p")).join("");
    assert.equal(found, expected, JSON.stringify(entry));
  }
});

test("the scheme of the request chooses the variable, upper case before lower, and a bare host is a proxy for HTTP", () => {
  const proxy = (url: string, environment: Record<string, string>) => proxyFor(new URL(url), environment)?.href;
  assert.equal(
    proxy("https://a", { HTTPS_PROXY: "http://one:1", https_proxy: "http://two:2", HTTP_PROXY: "http://three:3" }),
    "http://one:1/",
  );
  assert.equal(proxy("http://a", { HTTPS_PROXY: "http://one:1", http_proxy: "plain:3128" }), "http://plain:3128/");
  assert.equal(proxy("https://a", { HTTPS_PROXY: "https://user:secret@p" }), "https://user:secret@p/");
  assert.equal(proxy("https://a", { HTTPS_PROXY: "10.0.0.1:3128" }), "http://10.0.0.1:3128/");
  assert.equal(proxy("https://a", { HTTPS_PROXY: "", https_proxy: "p" }), "http://p/");
  assert.equal(proxy("https://a", { HTTP_PROXY: "http://p" }), undefined);
  assert.equal(proxy("https://a", { HTTPS_PROXY: "http://p", no_proxy: "a" }), undefined);
  assert.equal(proxy("https://a", { HTTPS_PROXY: "::" }), undefined);
  assert.equal(proxy("https://a", { HTTPS_PROXY: "http://user:50%off@p" }), undefined);
});
