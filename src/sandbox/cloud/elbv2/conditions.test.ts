import assert from "node:assert/strict";
import { test } from "node:test";
import type { RuleCondition, RuleTransform } from "@aws-sdk/client-elastic-load-balancing-v2";
import { refused } from "../testing.ts";
import { path, rule, ruleBed } from "./application-testing.ts";

const header = (HttpHeaderName: string, ...Values: string[]): RuleCondition => ({
  Field: "http-header",
  HttpHeaderConfig: { HttpHeaderName, Values },
});
const host = (...Values: string[]): RuleCondition => ({ Field: "host-header", HostHeaderConfig: { Values } });
const method = (...Values: string[]): RuleCondition => ({ Field: "http-request-method", HttpRequestMethodConfig: { Values } });
const source = (...Values: string[]): RuleCondition => ({ Field: "source-ip", SourceIpConfig: { Values } });
const query = (...Values: { Key?: string; Value?: string }[]): RuleCondition => ({ Field: "query-string", QueryStringConfig: { Values } });

test("values of hosts and paths are told beside their configuration, whichever way they were given", async () => {
  const bed = await ruleBed();
  const plain = await rule(bed, bed.web, 1, { Conditions: [{ Field: "path-pattern", Values: ["/a*"] }] });
  assert.deepEqual(plain.Conditions, [{ Field: "path-pattern", Values: ["/a*"], PathPatternConfig: { Values: ["/a*"] } }]);
  const both = await rule(bed, bed.web, 2, { Conditions: [host("a.example.com", "*.b.com")] });
  assert.deepEqual(both.Conditions, [
    { Field: "host-header", Values: ["a.example.com", "*.b.com"], HostHeaderConfig: { Values: ["a.example.com", "*.b.com"] } },
  ]);
  const others = [header("X-Team", "a"), method("GET"), query({ Key: "v", Value: "1" }), source("10.0.0.0/8", "2001:db8::/32")];
  assert.deepEqual((await rule(bed, bed.web, 3, { Conditions: others })).Conditions, others);
});

test("RegexValues of hosts, paths and headers are kept, beside the configuration of hosts and paths", async () => {
  const bed = await ruleBed();
  const RegexValues = ["^/api/(.+)$"];
  const made = await rule(bed, bed.web, 1, {
    Conditions: [
      { Field: "path-pattern", PathPatternConfig: { RegexValues } },
      { Field: "http-header", HttpHeaderConfig: { HttpHeaderName: "X", RegexValues: ["^v[0-9]+$"] } },
    ],
  });
  assert.deepEqual(made.Conditions?.[0], { Field: "path-pattern", RegexValues, PathPatternConfig: { RegexValues } });
  assert.deepEqual(made.Conditions?.[1]?.HttpHeaderConfig, { HttpHeaderName: "X", RegexValues: ["^v[0-9]+$"] });
});

test("a rule has at most 5 condition values and 5 wildcards, over all of its conditions", async () => {
  const bed = await ruleBed();
  await rule(bed, bed.web, 1, { Conditions: [path("/a", "/a/*"), host("a.com", "b.com"), method("GET")] });
  const six = [path("/a", "/a/*"), host("a.com", "b.com"), method("GET", "HEAD")];
  assert.match(await refused(rule(bed, bed.web, 2, { Conditions: six }), "ValidationError"), /can only have '5' condition values/);
  await refused(rule(bed, bed.web, 2, { Conditions: [path("/1", "/2", "/3", "/4", "/5", "/6")] }), "ValidationError");
  await refused(rule(bed, bed.web, 2, { Conditions: [path("/*a*b*c*d*e*f")] }), "ValidationError");
  await rule(bed, bed.web, 2, { Conditions: [query({ Value: "\\*\\*\\*\\*\\*\\*" })] });
});

test("conditions that AWS does not take are refused", async () => {
  const bed = await ruleBed();
  const bad: readonly RuleCondition[][] = [
    [],
    [{ Field: "colour", Values: ["red"] }],
    [{ Field: "path-pattern" }],
    [path("")],
    [path(`/${"a".repeat(128)}`)],
    [path("/a b")],
    [path("/a"), path("/b")],
    [{ Field: "path-pattern", Values: ["/a"], PathPatternConfig: { Values: ["/a"] } }],
    [{ Field: "path-pattern", PathPatternConfig: { Values: ["/a"], RegexValues: ["a"] } }],
    [{ Field: "path-pattern", PathPatternConfig: { RegexValues: ["("] } }],
    [{ Field: "path-pattern", PathPatternConfig: { RegexValues: ["a(?=b)"] } }],
    [{ Field: "path-pattern", HostHeaderConfig: { Values: ["a.com"] } }],
    [host("localhost")],
    [host("a.com"), host("b.com")],
    [host("a.example.1")],
    [header("Host", "a.com")],
    [header("", "a")],
    [header("X".repeat(41), "a")],
    [method("get")],
    [method("GET"), method("HEAD")],
    [{ Field: "http-request-method", HttpRequestMethodConfig: { Values: ["GET"] }, RegexValues: ["G"] }],
    [query({ Key: "a", Value: "" })],
    [source("10.0.0.0")],
    [source("10.0.0.0/33")],
    [source("10.0.0.0/8"), source("11.0.0.0/8")],
  ];
  for (const Conditions of bad) await refused(rule(bed, bed.web, 1, { Conditions }), "ValidationError");
  await rule(bed, bed.web, 1, { Conditions: [header("X-A", "1"), header("X-A", "2"), query({ Value: "a" }), query({ Value: "b" })] });
});

test("transforms: one of each type, with one rewrite each, in expressions that AWS's engine has", async () => {
  const bed = await ruleBed();
  const url = (Regex: string, Replace: string): RuleTransform => ({
    Type: "url-rewrite",
    UrlRewriteConfig: { Rewrites: [{ Regex, Replace }] },
  });
  const name: RuleTransform = {
    Type: "host-header-rewrite",
    HostHeaderRewriteConfig: { Rewrites: [{ Regex: "^(.+)\\.com$", Replace: "$1.internal" }] },
  };
  const Transforms = [url("^/dp/([A-Za-z0-9]+)/?$", "/product.php?id=$1"), name];
  assert.deepEqual((await rule(bed, bed.web, 1, { Transforms })).Transforms, Transforms);
  const bad: readonly RuleTransform[][] = [
    [url("a", "b"), url("c", "d")],
    [url("(", "b")],
    [url("(?<=a)b", "c")],
    [url("(a)\\1", "c")],
    [url("\\p{L}", "c")],
    [url("a".repeat(1025), "b")],
    [url("a", "b".repeat(1025))],
    [{ Type: "url-rewrite" }],
    [{ Type: "url-rewrite", UrlRewriteConfig: { Rewrites: [] } }],
    [{ ...name, UrlRewriteConfig: { Rewrites: [{ Regex: "a", Replace: "b" }] } }],
  ];
  for (const each of bad) await refused(rule(bed, bed.web, 2, { Transforms: each }), "ValidationError");
});
