import assert from "node:assert/strict";
import { test } from "node:test";
import { registryAt } from "./hosts.ts";
import { ImageUnreadable, imageHost } from "./image.ts";

const account = "123456789012";
const west = `${account}.dkr.ecr.us-west-2.amazonaws.com`;
const digest = `sha256:${"ab".repeat(32)}`;
const long = "a".repeat(64 * 1024);

/**
 * Image name, then what it is: `private REGION [fips] [dual]`, `public [dual]`, `refused`, or `error: REASON`; and the
 * key of the answer where it is not the text before the first slash.
 */
const table: readonly (readonly [image: string, expected: string, key?: string])[] = [
  // Every partition, every variant.
  [`${west}/team/app`, "private us-west-2"],
  [`${account}.dkr.ecr.us-east-1.amazonaws.com/a`, "private us-east-1"],
  [`${account}.dkr.ecr.eu-central-2.amazonaws.com/a`, "private eu-central-2"],
  [`${account}.dkr.ecr.ap-southeast-7.amazonaws.com/a`, "private ap-southeast-7"],
  [`${account}.dkr.ecr.us-gov-east-1.amazonaws.com/a`, "private us-gov-east-1"],
  [`${account}.dkr.ecr.lala-land-1.amazonaws.com/a`, "private lala-land-1"],
  [`${account}.dkr.ecr.cn-north-1.amazonaws.com.cn/a`, "private cn-north-1"],
  [`${account}.dkr.ecr.cn-northwest-1.amazonaws.com.cn/a`, "private cn-northwest-1"],
  [`${account}.dkr.ecr.eusc-de-east-1.amazonaws.eu/a`, "private eusc-de-east-1"],
  [`${account}.dkr.ecr.us-iso-east-1.c2s.ic.gov/a`, "private us-iso-east-1"],
  [`${account}.dkr.ecr.us-isob-east-1.sc2s.sgov.gov/a`, "private us-isob-east-1"],
  [`${account}.dkr.ecr.eu-isoe-west-1.cloud.adc-e.uk/a`, "private eu-isoe-west-1"],
  [`${account}.dkr.ecr.us-isof-east-1.csp.hci.ic.gov/a`, "private us-isof-east-1"],
  [`${account}.dkr.ecr-fips.us-west-2.amazonaws.com/a`, "private us-west-2 fips"],
  [`${account}.dkr.ecr-fips.us-gov-west-1.amazonaws.com/a`, "private us-gov-west-1 fips"],
  [`${account}.dkr.ecr-fips.eusc-de-east-1.amazonaws.eu/a`, "private eusc-de-east-1 fips"],
  [`${account}.dkr.ecr-fips.us-iso-east-1.c2s.ic.gov/a`, "private us-iso-east-1 fips"],
  [`${account}.dkr-ecr.us-west-2.on.aws/a`, "private us-west-2 dual"],
  [`${account}.dkr-ecr.us-gov-west-1.on.aws/a`, "private us-gov-west-1 dual"],
  [`${account}.dkr-ecr-fips.us-west-2.on.aws/a`, "private us-west-2 fips dual"],
  [`${account}.dkr-ecr.cn-north-1.on.amazonwebservices.com.cn/a`, "private cn-north-1 dual"],
  [`${account}.dkr-ecr.us-west-2.amazonaws.com/a`, "private us-west-2"],
  [`${account}.dkr.ecr.us-west-2.on.aws/a`, "private us-west-2 dual"],
  ["public.ecr.aws/eks/pause", "public"],
  ["public.ecr.aws", "public"],
  ["ecr-public.aws.com/eks/pause", "public dual"],
  // Paths, tags, digests, ports.
  [west, "private us-west-2"],
  [`${west}/`, "private us-west-2"],
  [`${west}/a/b/c/d/e`, "private us-west-2"],
  [`${west}/a:1.0`, "private us-west-2"],
  [`${west}/a@${digest}`, "private us-west-2"],
  [`${west}/a:1.0@${digest}`, "private us-west-2"],
  [`${west}:443/a`, "private us-west-2", `${west}:443`],
  [`${west}:/a`, "private us-west-2", `${west}:`],
  [`${west}:443/a:1.0@${digest}`, "private us-west-2", `${west}:443`],
  ["public.ecr.aws:443/x", "public", "public.ecr.aws:443"],
  ["public.ecr.aws:5000/x:latest", "public", "public.ecr.aws:5000"],
  [`${west}/public.ecr.aws/eks/pause`, "private us-west-2"],
  [`${west}/registry.k8s.io/pause`, "private us-west-2"],
  [`${west}?tag=1`, "private us-west-2", west],
  [`${west}#part`, "private us-west-2", west],
  [`${west}/${long}`, "private us-west-2"],
  // Schemes and users.
  [`http://${west}/a`, "private us-west-2", west],
  [`oci://${west}/a`, "private us-west-2", west],
  [`https://public.ecr.aws/a`, "public", "public.ecr.aws"],
  [`user@${west}/a`, "private us-west-2", west],
  [`user:word@${west}/a`, "private us-west-2", west],
  // Letter case does not matter to the decision, and is kept in the key.
  [`${account}.DKR.ECR.US-WEST-2.AMAZONAWS.COM/a`, "private us-west-2"],
  [`${account}.dkr.ecr.Us-West-2.amazonaws.com/a`, "private us-west-2"],
  ["PUBLIC.ECR.AWS/a", "public"],
  ["Ecr-Public.Aws.Com/a", "public dual"],
  // Trailing dots are another name to the container runtime, and to us.
  [`${west}./a`, "refused"],
  ["public.ecr.aws./a", "refused"],
  ["ecr-public.aws.com./a", "refused"],
  // Look-alikes.
  [`12345678901.dkr.ecr.us-west-2.amazonaws.com/a`, "refused"],
  [`1234567890123.dkr.ecr.us-west-2.amazonaws.com/a`, "refused"],
  [`12345678901a.dkr.ecr.us-west-2.amazonaws.com/a`, "refused"],
  [`٠٢٣٤٥٦٧٨٩٠١٢.dkr.ecr.us-west-2.amazonaws.com/a`, "refused"],
  [`${account}.dkr.ecr.us-west-2.amazonaws.com.evil.com/a`, "refused"],
  [`${account}.dkr.ecr.us-west-2.amazonaws.hacker.com/a`, "refused"],
  [`${account}.dkr.ecr.us-west-2.hacker.com/a`, "refused"],
  [`${account}.dkr.ecr.us-west-2.amazonaws.lol/a`, "refused"],
  [`${account}.dkr.ecr.us-west-2.amazonaws.gov/a`, "refused"],
  [`${account}.dkr.ecr.us-west-2.amazonaws.co/a`, "refused"],
  [`${account}.dkr.ecr.us-west-2.amazonaws.com.co/a`, "refused"],
  [`${account}.dkr.ecr.us-west-2.awsamazon.com/a`, "refused"],
  [`${account}.dkr.ecr.us-west-2.evilamazonaws.com/a`, "refused"],
  [`${account}.dkr.ecr.us-west-2.evil-amazonaws.com/a`, "refused"],
  [`${account}.dkr.ecr.us-west-2.evil.on.aws/a`, "refused"],
  [`${account}.dog.ecr.us-west-2.amazonaws.com/a`, "refused"],
  [`${account}.dkr.cat.us-west-2.amazonaws.com/a`, "refused"],
  [`${account}.dkr.us-west-2.amazonaws.com/a`, "refused"],
  [`${account}.us-west-2.amazonaws.com/a`, "refused"],
  [`${account}.dkrecr.us-west-2.amazonaws.com/a`, "refused"],
  [`${account}.dkr_ecr.us-west-2.amazonaws.com/a`, "refused"],
  [`${account}.dkr.ecr-fipss.us-west-2.amazonaws.com/a`, "refused"],
  [`${account}.dkr.ecr..amazonaws.com/a`, "refused"],
  [`${account}.dkr.ecr.amazonaws.com/a`, "refused"],
  [`${account}.dkr.ecr.-west.amazonaws.com/a`, "refused"],
  [`${account}.dkr.ecr.us!west.amazonaws.com/a`, "refused"],
  [`${account}.dkr.ecr.us.west.amazonaws.com/a`, "refused"],
  [`${account}.dkr.ecr.us-wést-2.amazonaws.com/a`, "refused"],
  [`${account}.dkr.ecr.us-west-2.amazonaws。com/a`, "refused"],
  [`x.${west}/a`, "refused"],
  [`x${west}/a`, "refused"],
  [`.${west}/a`, "refused"],
  [`${account}..dkr.ecr.us-west-2.amazonaws.com/a`, "refused"],
  [`${west}@evil.com/a`, "refused"],
  [`${west}:443@evil.com/a`, "refused"],
  [`evil.com/${west}`, "refused"],
  [`evil.com?${west}`, "refused"],
  [`evil.com#${west}`, "refused"],
  [`evil.com/@${west}`, "refused"],
  [`http://evil.com/${west}`, "refused"],
  [`evil.com/a://${west}`, "refused"],
  [`${account}.dkr.ecr.#us-west-2.amazonaws.com/a`, "refused"],
  ["xpublic.ecr.aws/a", "refused"],
  ["x.public.ecr.aws/a", "refused"],
  ["public.ecr.aws.evil.com/a", "refused"],
  ["public-ecr.aws/a", "refused"],
  ["ecr.aws/a", "refused"],
  ["ecr-public.aws.com.evil.com/a", "refused"],
  ["gallery.ecr.aws/a", "refused"],
  // Other registries, and names without one.
  ["registry.k8s.io/pause", "refused"],
  ["docker.io/library/nginx", "refused"],
  ["ghcr.io/a/b", "refused"],
  ["quay.io/a/b", "refused"],
  ["gcr.io/a/b", "refused"],
  ["nginx", "refused"],
  ["localhost:5000/a", "refused"],
  ["10.0.0.1:5000/a", "refused"],
  ["a_b", "refused"],
  ["a<b", "refused"],
  ["/foo", "refused"],
  ["http:///foo", "refused"],
  ["host/a://b", "refused"],
  ["mailto:x://y", "refused"],
  ["*", "refused"],
  [long, "refused"],
  [`${"a.".repeat(32 * 1024)}com/x`, "refused"],
  // IPv6 literals.
  ["[::1]/a", "refused"],
  ["[::1]:5000/x", "refused"],
  ["[2001:db8::1]:443/x", "refused"],
  ["[::ffff:192.0.2.1]/x", "refused"],
  ["[fe80::1%25en0]/x", "refused"],
  [`[${west}]/x`, "error: invalid host: ParseAddr"],
  ["[::1", "error: missing ']' in host"],
  ["[::1]x/a", 'error: invalid port "x" after host'],
  ["[::1]:x/a", 'error: invalid port ":x" after host'],
  ["[1.2.3.4]/a", "error: invalid host"],
  ["[1::2::3]/a", "error: invalid host"],
  ["[::g]/a", "error: invalid host"],
  ["[]/a", "error: invalid host"],
  ["x[::1]/a", "error: invalid IP-literal"],
  ["::1", 'error: invalid port "::1" after host'],
  // What cannot be read.
  ["nginx:1.2", 'error: invalid port ":1.2" after host'],
  ["foo@sha256:abcd", 'error: invalid port ":abcd" after host'],
  ["a:80:90", 'error: invalid port ":80:90" after host'],
  [`${west}:latest`, 'error: invalid port ":latest" after host'],
  ["foobar  ", 'error: invalid character " " in host name'],
  ["a^b", 'error: invalid character "^" in host name'],
  ["a`b", 'error: invalid character "`" in host name'],
  ["a{b", 'error: invalid character "{" in host name'],
  ["a|b", 'error: invalid character "|" in host name'],
  ["a\\b", 'error: invalid character "\\\\" in host name'],
  [`evil.com\\@${west}`, "error: net/url: invalid userinfo"],
  [`us er@${west}`, "error: net/url: invalid userinfo"],
  ["a%41b", 'error: invalid URL escape "%41"'],
  ["a%zz", 'error: invalid URL escape "%zz"'],
  ["a%", 'error: invalid URL escape "%"'],
  [`${west}/%zz`, 'error: invalid URL escape "%zz"'],
  [`${west}#%zz`, 'error: invalid URL escape "%zz"'],
  ["1x://y", "error: first path segment in URL cannot contain colon"],
  ["://x", "error: missing protocol scheme"],
  [`a\tb`, "error: net/url: invalid control character in URL"],
  [`${west}/a\n`, "error: net/url: invalid control character in URL"],
  [`${west}\u0000/a`, "error: net/url: invalid control character in URL"],
  [`\u007f${west}`, "error: net/url: invalid control character in URL"],
];

test(`each of ${table.length} image names gets its answer or its refusal`, () => {
  assert.ok(table.length >= 120);
  assert.equal(new Set(table.map(([image]) => image)).size, table.length, "no name twice");
  for (const [image, expected, key] of table) {
    const shown = image.length > 200 ? `${image.slice(0, 40)}… (${image.length})` : JSON.stringify(image);
    if (expected.startsWith("error: ")) {
      assert.throws(
        () => imageHost(image),
        (error) => error instanceof ImageUnreadable && error.message.includes(`: parse "`) && error.message.includes(expected.slice(7)),
        shown,
      );
      continue;
    }
    const found = imageHost(image);
    assert.equal(kindOf(found.host), expected, shown);
    if (expected !== "refused") assert.equal(found.key, key ?? image.split("/", 1)[0], shown);
  }
});

test("a name that cannot be read is reported in the words runbooks search for", () => {
  assert.throws(() => imageHost("foobar  "), {
    message: 'error parsing image reference https://foobar  : parse "https://foobar  ": invalid character " " in host name',
  });
});

test("the host keeps escaped bytes beyond ASCII, decoded, and loses brackets and zone escapes", () => {
  assert.equal(imageHost("a%c3%a4b.c/d").host, "aäb.c");
  assert.equal(imageHost("a%25b").host, "a%b");
  assert.deepEqual(imageHost("[::1]:5000/x"), { host: "::1", key: "[::1]:5000" });
  assert.equal(imageHost("[fe80::1%25en0]/x").host, "fe80::1%en0");
});

function kindOf(host: string): string {
  const registry = registryAt(host);
  if (registry === undefined) return "refused";
  const dual = registry.dualStack ? " dual" : "";
  return registry.kind === "public" ? `public${dual}` : `private ${registry.region}${registry.fips ? " fips" : ""}${dual}`;
}
