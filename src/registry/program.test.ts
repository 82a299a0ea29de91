import assert from "node:assert/strict";
import { test } from "node:test";
import { host, request, runIt, staticKeys, tokenReply } from "../../test/bed/credential-provider.ts";

const answered = (duration: string, password = "the-password") =>
  `{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Registry","cacheDuration":"${duration}","auth":{"${host}":{"username":"AWS","password":"${password}"}}}\n`;

/** The last line, without its head. */
const failureOf = (stderr: string) => /Error running credential provider plugin: (.*)\n$/.exec(stderr)?.[1] ?? stderr;

test("a request is answered with one line, by one signed call to the region in the image's host", async () => {
  const run = await runIt({ input: request(), environment: { ...staticKeys, AWS_REGION: "eu-west-1" } });
  assert.equal(run.status, 0, run.stderr);
  assert.equal(run.stdout, answered("6h0m0s"));
  assert.equal(run.seen.length, 1);
  const [{ request: call }] = run.seen as [(typeof run.seen)[0]];
  assert.equal(call.url.href, "https://api.ecr.us-west-2.amazonaws.com/");
  assert.equal(call.body, "{}");
  assert.equal(call.headers["x-amz-target"], "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken");
  assert.match(call.headers.authorization!, /Credential=AKIDEXAMPLE\/20260101\/us-west-2\/ecr\/aws4_request/);
  assert.match(run.stderr, /^I0101 00:00:00\.000000 {6}42 plugin:1\] Getting creds for private image /);
  assert.doesNotMatch(run.stderr, /the-password|static-secret-key/);
});

test("public registries are asked for in us-east-1, whatever the configured region", async () => {
  for (const image of ["public.ecr.aws/eks/pause", "ecr-public.aws.com/eks/pause"]) {
    const run = await runIt({
      input: request(image),
      environment: { ...staticKeys, AWS_REGION: "cn-north-1" },
      reply: () => tokenReply("AWS:public-password", 7300, "public"),
    });
    assert.equal(run.status, 0, run.stderr);
    assert.match(run.stdout, /"cacheDuration":"1h0m50s"/);
    assert.match(run.seen[0]!.request.headers.authorization!, /us-east-1\/ecr-public\/aws4_request/);
    assert.equal(run.seen[0]!.request.headers["x-amz-target"], "SpencerFrontendService.GetAuthorizationToken");
  }
});

test("the API endpoint is of the host's own kind, unless the operator says otherwise", async () => {
  const called = async (image: string, environment: Record<string, string> = {}) => {
    const run = await runIt({
      input: request(image),
      environment: { ...staticKeys, ...environment },
      reply: ({ url }) => tokenReply(undefined, undefined, url.host.includes("public") ? "public" : "private"),
    });
    return run.seen[0]?.request.url.host ?? run.stderr;
  };
  const account = "123456789012";
  assert.equal(await called(`${account}.dkr.ecr-fips.us-west-2.amazonaws.com/a`), "api.ecr-fips.us-west-2.amazonaws.com");
  assert.equal(await called(`${account}.dkr-ecr.us-west-2.on.aws/a`), "ecr.us-west-2.api.aws");
  assert.equal(await called(`${account}.dkr-ecr-fips.us-west-2.on.aws/a`), "ecr-fips.us-west-2.api.aws");
  assert.equal(await called("ecr-public.aws.com/a"), "ecr-public.us-east-1.api.aws");
  assert.equal(
    await called(`${account}.dkr-ecr.us-west-2.on.aws/a`, { AWS_USE_DUALSTACK_ENDPOINT: "false" }),
    "api.ecr.us-west-2.amazonaws.com",
  );
  assert.equal(await called(`${host}/a`, { AWS_USE_FIPS_ENDPOINT: "true" }), "api.ecr-fips.us-west-2.amazonaws.com");
  assert.equal(await called(`${account}.dkr-ecr.us-west-2.on.aws/a`, { AWS_ENDPOINT_URL_ECR: "http://127.0.0.1:9" }), "127.0.0.1:9");
  assert.match(
    await called(`${host}/a`, { AWS_USE_FIPS_ENDPOINT: "true", AWS_ENDPOINT_URL: "http://127.0.0.1:9" }),
    /FIPS and custom endpoint are not/,
  );
  assert.match(
    await called(`${host}/a`, { AWS_USE_DUALSTACK_ENDPOINT: "true", AWS_ENDPOINT_URL: "http://a" }),
    /Dualstack and custom endpoint/,
  );
  assert.match(await called(`${account}.dkr.ecr.a_b.amazonaws.com/a`), /invalid input region a_b/);
});

test("a login is cached for half its life, or until a margin before its end, and never when it is as good as dead", async () => {
  const duration = async (life: number | undefined, environment: Record<string, string> = {}) =>
    /"cacheDuration":"(.*?)"/.exec(
      (await runIt({ input: request(), environment: { ...staticKeys, ...environment }, reply: () => tokenReply(undefined, life) })).stdout,
    )?.[1];
  assert.equal(await duration(43_200), "6h0m0s");
  assert.equal(await duration(7_300), "1h0m50s");
  assert.equal(await duration(90), "45s");
  assert.equal(await duration(3.9), "1s");
  assert.equal(await duration(1), "0s");
  assert.equal(await duration(-100), "0s");
  assert.equal(await duration(undefined), "6h0m0s");
  const margin = { ECR_CREDENTIAL_PROVIDER_CACHE_MARGIN: "15m" };
  assert.equal(await duration(43_200, margin), "11h45m0s");
  assert.equal(await duration(60, margin), "0s");
});

test("a token without an expiry is not cached", async () => {
  const body = { authorizationData: [{ authorizationToken: Buffer.from("AWS:p").toString("base64") }] };
  const run = await runIt({ input: request(), reply: () => ({ body }) });
  assert.equal(run.stdout, answered("0s", "p"));
});

test("a host that is not ECR gets no credentials and no call, and kubelet an answer it can use", async () => {
  for (const image of ["registry.k8s.io/pause", `${host}.evil.com/a`, "/foo"]) {
    const run = await runIt({ input: request(image) });
    assert.equal(run.status, 0);
    assert.equal(run.seen.length, 0);
    assert.equal(
      run.stdout,
      '{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Registry","cacheDuration":"0s","auth":{}}\n',
    );
    assert.match(run.stderr, /is not an Amazon ECR registry/);
  }
});

test("a host the operator vouches for is served from the region given, the configured one, or the instance's", async () => {
  const image = "registry.example.com:5000/a";
  const hosts = { ECR_CREDENTIAL_PROVIDER_EXTRA_HOSTS: "other.example.com, registry.example.com=eu-west-1" };
  const given = await runIt({ input: request(image), environment: { ...staticKeys, ...hosts, AWS_REGION: "us-east-2" } });
  assert.equal(given.seen[0]?.request.url.host, "api.ecr.eu-west-1.amazonaws.com");
  assert.match(given.stdout, /"registry.example.com:5000":/);

  const open = { ...staticKeys, ECR_CREDENTIAL_PROVIDER_EXTRA_HOSTS: "registry.example.com" };
  const configured = await runIt({ input: request(image), environment: { ...open, AWS_DEFAULT_REGION: "us-east-2" } });
  assert.equal(configured.seen[0]?.request.url.host, "api.ecr.us-east-2.amazonaws.com");
  assert.match(configured.stderr, /No region found in the image reference, the default region will be used/);

  const instance = await runIt({
    input: request(image),
    environment: { ...open, AWS_EC2_METADATA_DISABLED: "false" },
    reply: ({ url }) =>
      url.pathname.endsWith("placement/region") ? { body: "sa-east-1" } : url.pathname.includes("token") ? { body: "t" } : tokenReply(),
  });
  assert.equal(instance.seen.at(-1)?.request.url.host, "api.ecr.sa-east-1.amazonaws.com");

  const nowhere = await runIt({ input: request(image), environment: open });
  assert.equal(nowhere.status, 1);
  assert.match(failureOf(nowhere.stderr), /Invalid Configuration: Missing Region/);
  const override = await runIt({ input: request(image), environment: { ...open, AWS_ENDPOINT_URL: "http://127.0.0.1:9" } });
  assert.equal(override.status, 0, override.stderr);
});

test("what is not a request is refused in the words runbooks search for, and never quoted", async () => {
  const token = "secret-pod-token";
  const base = request();
  for (const [input, message] of [
    ["", /^couldn't get version\/kind; json parse error: unexpected end of JSON input/],
    [`  \n`, /unexpected end of JSON input/],
    ["hello secret-pod-token", /^couldn't get version\/kind; json parse error: /],
    ["kind: CredentialProviderRequest\nx: secret-pod-token", /json parse error/],
    [`["secret-pod-token"]`, /json parse error: expected an object, found array/],
    [`"secret-pod-token"`, /found string/],
    [`${JSON.stringify(base)}${JSON.stringify(base)}`, /json parse error/],
    [`${JSON.stringify(base)} x`, /json parse error/],
    [`\ufeff${JSON.stringify(base)}`, /json parse error/],
    [JSON.stringify({ ...base, serviceAccountToken: token }).slice(0, -2), /json parse error/],
    ["null", /^group version {2}is not supported/],
    ["{}", /^group version {2}is not supported/],
    [{ ...base, apiVersion: undefined }, /^group version {2}is not supported/],
    [{ ...base, apiVersion: "a/b/c" }, /^unexpected GroupVersion string: a\/b\/c/],
    [{ ...base, apiVersion: "v1" }, /^group version v1 is not supported/],
    [
      { ...base, apiVersion: "credentialprovider.kubelet.k8s.io/v2" },
      /^group version credentialprovider.kubelet.k8s.io\/v2 is not supported/,
    ],
    [{ ...base, apiVersion: 1 }, /field apiVersion must be a string, found number/],
    [{ ...base, kind: undefined, serviceAccountToken: token }, /^Object 'Kind' is missing/],
    [{ ...base, kind: "Foo" }, /^no kind "Foo" is registered for version "credentialprovider.kubelet.k8s.io\/v1"/],
    [{ ...base, kind: "CredentialProviderResponse" }, /^kind was "CredentialProviderResponse", expected CredentialProviderRequest/],
    [{ ...base, image: 7 }, /field image must be a string, found number/],
    [{ ...base, image: undefined, Image: "a" }, /^image in plugin request was empty/],
    [{ ...base, image: "" }, /^image in plugin request was empty/],
    [{ ...base, image: null }, /^image in plugin request was empty/],
    [{ ...base, serviceAccountToken: { token } }, /field serviceAccountToken must be a string, found object/],
    [{ ...base, serviceAccountAnnotations: [token] }, /field serviceAccountAnnotations must be an object, found array/],
    [{ ...base, serviceAccountAnnotations: { a: 1 } }, /must be strings, found number/],
    [{ ...base, image: "foobar  " }, /^error parsing image reference https:\/\/foobar/],
    ["[".repeat(200_000), /json parse error/],
  ] as const) {
    const run = await runIt({ input });
    assert.equal(run.status, 1);
    assert.equal(run.stdout, "");
    assert.equal(run.seen.length, 0);
    assert.match(failureOf(run.stderr), message);
    assert.doesNotMatch(run.stderr, /secret-pod-token/);
  }
});

test("what a lenient decoder lets pass is let pass", async () => {
  const base = request();
  for (const input of [
    `\n ${JSON.stringify(base)} \n`,
    { ...base, somethingNew: true },
    { ...base, serviceAccountToken: null, serviceAccountAnnotations: null },
    `{"image":"nginx:x",${JSON.stringify(base).slice(1)}`,
    { KIND: base.kind, ApiVersion: base.apiVersion, image: base.image },
  ]) {
    const run = await runIt({ input });
    assert.equal(run.stdout, answered("6h0m0s"), run.stderr);
  }
});

test("older versions of the API are answered in kind, without service accounts", async () => {
  for (const version of ["v1beta1", "v1alpha1"]) {
    const apiVersion = `credentialprovider.kubelet.k8s.io/${version}`;
    const run = await runIt({ input: { ...request(), apiVersion, serviceAccountToken: "a-token" } });
    assert.equal(run.status, 0, run.stderr);
    assert.equal(JSON.parse(run.stdout).apiVersion, apiVersion);
    assert.equal(run.seen.length, 1);
  }
});

test("authorization tokens of every odd shape give a login or a clear error", async () => {
  const read = async (authorizationToken: unknown) => {
    const run = await runIt({ input: request(), reply: () => ({ body: { authorizationData: [{ authorizationToken }] } }) });
    return run.status === 0 ? JSON.parse(run.stdout).auth[host] : failureOf(run.stderr);
  };
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  assert.deepEqual(await read(base64("AWS:pass:with:colons")), { username: "AWS", password: "pass:with:colons" });
  assert.deepEqual(await read(base64("AWS:")), { username: "AWS", password: "" });
  assert.deepEqual(await read(base64(":")), { username: "", password: "" });
  assert.deepEqual(await read(`${base64("AWS:wrapped").slice(0, 4)}\r\n${base64("AWS:wrapped").slice(4)}`), {
    username: "AWS",
    password: "wrapped",
  });
  assert.match(await read(base64("no colon")), /^error parsing username and password from authorization token/);
  assert.match(await read(""), /^error parsing username and password/);
  assert.match(await read("QVdT!nA="), /^illegal base64 data at input byte 4/);
  assert.match(await read(base64("AWS:xy").replaceAll("=", "").slice(0, -1)), /^illegal base64 data/);
  assert.match(await read(null), /^authorization token in response was nil/);
  assert.match(await read(7), /authorizationToken must be a string/);
});

test("answers without what was asked for are told apart", async () => {
  const message = async (body: unknown, image = `${host}/a`) =>
    failureOf((await runIt({ input: request(image), reply: () => ({ body }) })).stderr);
  assert.match(await message("null"), /^response output from ECR was nil/);
  assert.match(await message({}), /^authorization data was empty/);
  assert.match(await message({ authorizationData: [] }), /^authorization data was empty/);
  assert.match(await message({ authorizationData: [{}] }), /^authorization token in response was nil/);
  assert.match(await message({}, "public.ecr.aws/a"), /^authorization data was empty/);
  assert.match(await message({ authorizationData: {} }, "public.ecr.aws/a"), /^authorization token in response was nil/);
  assert.match(await message("<html>hello</html>"), /ECR: GetAuthorizationToken, deserialization failed/);
  assert.match(await message({ authorizationData: [{ authorizationToken: "QVdTOnA=", expiresAt: "soon" }] }), /expiresAt must be a number/);
});

test("arguments: version, help, log options and positional ones; unknown flags are refused before anything is read", async () => {
  assert.equal((await runIt({ args: ["--version"] })).stdout, "ecr-credential-provider version v1.2.3\n");
  assert.equal((await runIt({ args: ["-v"] })).status, 0);
  assert.match((await runIt({ args: ["--help"] })).stdout, /^ECR credential provider for kubelet\n\nUsage:/);
  assert.equal((await runIt({ args: ["get-credentials"], input: request() })).status, 0);
  assert.equal((await runIt({ args: ["--log-level=error"], input: request() })).stderr, "");
  const json = await runIt({ args: ["--log-format", "json"], input: request() });
  const lines = json.stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.equal(lines.at(-1).requestId, "request-1");
  for (const [args, message] of [
    [["--foo"], /^Error: unknown flag: --foo\nUsage:/],
    [["-x"], /^Error: unknown shorthand flag: 'x' in -x\n/],
    [["--version=5"], /^Error: invalid argument "5" for "--version" flag/],
    [["--log-level"], /^Error: flag needs an argument: --log-level/],
    [["--log-level=loud"], /^Error: invalid argument "loud"/],
    [["config", "x"], /^Error: config takes no arguments/],
    [["test"], /^Error: test takes one argument/],
  ] as const) {
    const run = await runIt({ args });
    assert.equal(run.status, 1);
    assert.equal(run.stdout, "");
    assert.match(run.stderr, message);
  }
});

test("settings that cannot be right are named", async () => {
  for (const [name, value] of [
    ["ECR_CREDENTIAL_PROVIDER_TIMEOUT", "soon"],
    ["ECR_CREDENTIAL_PROVIDER_TIMEOUT", "0s"],
    ["ECR_CREDENTIAL_PROVIDER_EXTRA_HOSTS", "*"],
    ["ECR_CREDENTIAL_PROVIDER_EXTRA_HOSTS", "*.*.*"],
    ["ECR_CREDENTIAL_PROVIDER_EXTRA_HOSTS", "a.b=="],
    ["ECR_CREDENTIAL_PROVIDER_FALLBACK", "yes"],
    ["ECR_CREDENTIAL_PROVIDER_CACHE_MARGIN", "-1s"],
    ["AWS_MAX_ATTEMPTS", "many"],
    ["AWS_USE_FIPS_ENDPOINT", "maybe"],
  ] as const) {
    const run = await runIt({ input: request(), environment: { ...staticKeys, [name]: value } });
    assert.equal(run.status, 1, name);
    assert.ok(failureOf(run.stderr).startsWith(`${name} is "${value}"`), run.stderr);
  }
});
