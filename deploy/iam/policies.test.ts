import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as acm from "../../src/aws/acm-actions.ts";
import type { AnyAction } from "../../src/aws/actions.ts";
import * as ec2 from "../../src/aws/ec2-actions.ts";
import * as elb from "../../src/aws/elb-actions.ts";
import * as elbv2 from "../../src/aws/elbv2-actions.ts";
import * as events from "../../src/aws/events-actions.ts";
import * as queue from "../../src/aws/queue-actions.ts";
import * as role from "../../src/aws/role-actions.ts";
import * as route53 from "../../src/aws/route53-actions.ts";
import * as shield from "../../src/aws/shield-actions.ts";
import * as tagging from "../../src/aws/tagging-actions.ts";
import * as waf from "../../src/aws/waf-actions.ts";
import { iamName, permissions, placeholders } from "../../src/doctor/permissions.ts";
import { policies, text } from "./policies.ts";

const root = join(import.meta.dirname, "../..");
const all = Object.entries(policies());

for (const [path, policy] of all) {
  test(`deploy/iam/${path} is what the table says; run "npm run docs" when it is not`, () => {
    assert.equal(readFileSync(join(import.meta.dirname, path), "utf8"), text(policy));
  });
}

test("no file lies beside the policies that the table does not know", () => {
  const files = globSync("**/*.json", { cwd: import.meta.dirname });
  assert.deepEqual(files.sort(), all.map(([path]) => path).sort());
});

test("every AWS call the code can make is granted by a feature, and no feature grants one that it cannot make", () => {
  const { doctor: _, ...others } = permissions;
  const granted = Object.values(others).flatMap((grants) => grants.flatMap(({ calls }) => calls.map(label)));
  assert.deepEqual([...new Set(granted)].sort(), [...callable()].sort());
});

test("a domain's calls are granted by its own features", () => {
  const domains = {
    routes: ["routes"],
    loadbalancers: ["load-balancers", "target-group-bindings", "ingresses", "ingress-certificates", "tag-index", "class-services"],
    interruptions: ["interruptions", "interruptions-setup"],
    volumes: ["volumes"],
    discovery: ["discovery"],
  } as const;
  for (const [domain, features] of Object.entries(domains)) {
    const granted = new Set(features.flatMap((feature) => permissions[feature].flatMap(({ calls }) => calls.map(label))));
    const missing = [...callable(`src/${domain}/`)].filter((call) => !granted.has(call));
    assert.deepEqual(missing, [], `policies ${features.join(", ")}`);
  }
});

test("services without regions are not asked for under a condition on the cluster's region", () => {
  for (const [path, { Statement }] of all) {
    for (const { Sid, Action, Condition } of Statement) {
      if (!JSON.stringify(Condition ?? {}).includes("aws:RequestedRegion")) continue;
      const global = [Action].flat().filter((action) => /^(iam|route53|shield|globalaccelerator):/.test(action));
      assert.deepEqual(global, [], `${path}: ${Sid}`);
    }
  }
});

test("a statement's name is its own within the policy, and letters and digits as IAM wants it", () => {
  for (const [path, { Statement }] of all) {
    const names = Statement.map(({ Sid }) => Sid);
    assert.equal(new Set(names).size, names.length, path);
    for (const name of names) assert.match(name, /^[A-Za-z0-9]+$/);
  }
});

test("every policy fits IAM's limit of 6,144 characters", () => {
  for (const [path, policy] of all) assert.ok(JSON.stringify(policy).length <= 6144, `${path}: ${JSON.stringify(policy).length}`);
});

test("no document names a partition: an account lies in one alone, and IAM refuses a policy that names another", () => {
  for (const [path, policy] of all) assert.doesNotMatch(JSON.stringify(policy), /"arn:aws/, path);
});

test("the default policies can be attached as they are: only the role to assume has to be filled in", () => {
  for (const [path, policy] of all.filter(([name]) => !name.includes("/") && name !== "assume-role.json")) {
    for (const placeholder of placeholders) assert.ok(!JSON.stringify(policy).includes(placeholder), `${path} has ${placeholder}`);
  }
});

test("the strict variants allow the same actions", () => {
  const actions = (path: string) => [...new Set(policies()[path]?.Statement.flatMap(({ Action }) => Action))].sort();
  for (const feature of Object.keys(permissions)) assert.deepEqual(actions(`strict/${feature}.json`), actions(`${feature}.json`));
});

/** The calls that the program's files import, all of them or those below a folder. */
function callable(below = "src/"): ReadonlySet<string> {
  const declared: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    ec2,
    elb,
    elbv2,
    acm,
    events,
    queue,
    role,
    route53,
    tagging,
    waf,
    shield,
  };
  const files = globSync(`${below}**/*.ts`, { cwd: root }).filter((file) => !/\.test\.ts$|\/testing\/|^src\/(sandbox|doctor)\//.test(file));
  const found = new Set<string>();
  for (const file of files) {
    const source = readFileSync(join(root, file), "utf8");
    for (const [, names = "", service = ""] of source.matchAll(
      /import \{([^}]*)\} from "[^"]*\/(ec2|elb|elbv2|acm|events|queue|role|route53|tagging|waf|shield)-actions\.ts"/g,
    )) {
      for (const name of names.split(",").map((each) => each.trim().split(" ")[0]!)) {
        const action = declared[service]?.[name] as AnyAction | undefined;
        if (action !== undefined && name !== "") found.add(label(action));
      }
    }
  }
  return found;
}

/** Two services of load balancing share names in IAM; here they are told apart. */
function label(action: AnyAction): string {
  return `${action.service} ${iamName(action)}`;
}
