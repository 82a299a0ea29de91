import assert from "node:assert/strict";
import { test } from "node:test";
import { hostMatches, matchImages, partitionOfRegistry, registryAt } from "./hosts.ts";

const account = "123456789012";

test("kubelet is told to ask for every registry of every partition, and for nothing else", () => {
  const asked = (key: string) => matchImages().some((pattern) => hostMatches(pattern, key));
  for (const host of [
    "dkr.ecr.us-west-2.amazonaws.com",
    "dkr.ecr-fips.us-west-2.amazonaws.com",
    "dkr.ecr.us-gov-west-1.amazonaws.com",
    "dkr.ecr.cn-north-1.amazonaws.com.cn",
    "dkr.ecr.eusc-de-east-1.amazonaws.eu",
    "dkr.ecr-fips.eusc-de-east-1.amazonaws.eu",
    "dkr.ecr.us-iso-east-1.c2s.ic.gov",
    "dkr.ecr.us-isob-east-1.sc2s.sgov.gov",
    "dkr.ecr.eu-isoe-west-1.cloud.adc-e.uk",
    "dkr.ecr.us-isof-east-1.csp.hci.ic.gov",
    "dkr-ecr.us-west-2.on.aws",
    "dkr-ecr-fips.us-west-2.on.aws",
    "dkr-ecr.cn-north-1.on.amazonwebservices.com.cn",
  ]) {
    assert.ok(asked(`${account}.${host}`), host);
    assert.ok(registryAt(`${account}.${host}`), host);
  }
  assert.ok(asked("public.ecr.aws") && asked("ecr-public.aws.com"));
  for (const host of ["evil.com", "registry.k8s.io", "docker.io", "x.public.ecr.aws", `${account}.dkr.ecr.us-west-2.amazonaws.com:443`]) {
    assert.ok(!asked(host), host);
  }
});

test("globs stay within one part of a host", () => {
  assert.ok(hostMatches("*.example.com", "a.example.com"));
  assert.ok(!hostMatches("*.example.com", "a.b.example.com"));
  assert.ok(hostMatches("reg?stry[0-9].example.com", "registry7.example.com"));
  assert.ok(!hostMatches("registry[^0-9].example.com", "registry7.example.com"));
  assert.ok(!hostMatches("registry[0-9.example.com", "registry7.example.com"));
  assert.ok(hostMatches("a*b*c.example.com", "axxbyyc.example.com"));
  assert.ok(hostMatches("example.com:5000", "example.com:5000"));
  assert.ok(!hostMatches("example.com", "example.com:5000"));
});

test("a host outside AWS's domains is a registry only where the operator vouched for it", () => {
  const extra = [{ glob: "*.registry.example.com", region: "eu-west-1" }, { glob: "ecr.internal" }];
  assert.equal(registryAt("a.registry.example.com"), undefined);
  assert.deepEqual(registryAt("a.registry.example.com", extra), { kind: "private", region: "eu-west-1", fips: false, dualStack: false });
  assert.deepEqual(registryAt("ECR.internal", extra), { kind: "private", region: undefined, fips: false, dualStack: false });
  assert.equal(registryAt("b.a.registry.example.com", extra), undefined);
});

test("a registry's partition follows from its region", () => {
  const partition = (host: string) => partitionOfRegistry(registryAt(host)!)?.name;
  assert.equal(partition(`${account}.dkr.ecr.us-west-2.amazonaws.com`), "aws");
  assert.equal(partition(`${account}.dkr.ecr.us-gov-west-1.amazonaws.com`), "aws-us-gov");
  assert.equal(partition(`${account}.dkr.ecr.cn-north-1.amazonaws.com.cn`), "aws-cn");
  assert.equal(partition("public.ecr.aws"), "aws");
});
