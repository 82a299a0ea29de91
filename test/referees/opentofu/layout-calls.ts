/**
 * Makes src/sandbox/layout/calls.ts: the calls by which a layout is made and removed, as OpenTofu has them made by the stand-in provider.
 * The sandbox plays them back, so that it stands in a network of the layouts where there is no OpenTofu.
 *
 *   node test/referees/opentofu/layout-calls.ts
 */
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { LayoutCall, LayoutStep } from "../../../src/sandbox/layout/player.ts";
import { clusterName, region } from "../../../src/sandbox/settings.ts";
import type { Aws } from "./aws/account.ts";
import { layoutBed } from "./bed.ts";
import { ami, configuration, inputs, layouts } from "./inputs.ts";
import type { StateFile, Step } from "./tofu.ts";

const callsFile = fileURLToPath(new URL("../../../src/sandbox/layout/calls.ts", import.meta.url));

const layout = layouts.find(({ name }) => name === "WithNAT")!;
const zones = ["a", "b", "c"].map((letter) => region + letter);
const nodeGroupName = "system";

/** One call that AWS has carried out. */
interface Carried {
  readonly service: LayoutCall["service"];
  readonly action: string;
  readonly input: object;
  readonly output: object;
}

const noCalls: readonly LayoutCall[] = [];

/** Applies and destroys both steps, and gives their calls. */
export async function recordLayout(t: Parameters<typeof layoutBed>[0]): Promise<Readonly<Record<"base" | "node", LayoutStep>>> {
  const bed = await layoutBed(t, region);
  const carried = recorded(bed.aws);
  const config = configuration(layout, region, {
    vpcNetworkCIDR: "10.0.0.0/16",
    nodeNetworkCIDR: "10.0.0.0/16",
    masterNodeGroup: { replicas: 1, instanceClass: { instanceType: "m5.large", ami } },
    nodeGroups: [{ name: nodeGroupName, replicas: 1, instanceClass: { instanceType: "m5.large", ami } }],
  });
  const subnetPlan = { zones, slots: zones.length };
  const inputsWith = (more: object) => ({
    ...inputs(config, { subnetPlan, ...more }),
    clusterConfiguration: { cloud: { prefix: clusterName } },
  });
  const steps = [
    { name: "base", step: bed.base(layout), inputs: inputsWith({}) },
    { name: "node", step: bed.node(layout, nodeGroupName, 0), inputs: inputsWith({ nodeGroupName, nodeIndex: 0 }) },
  ] as const;
  const names = new Map<string, string>();
  const given = new Set<string>();
  const calls = { base: { make: noCalls, remove: noCalls }, node: { make: noCalls, remove: noCalls } };
  const take = async (step: Step) => {
    for (const [id, name] of addressesById(await step.state())) names.set(id, name);
    return carried.splice(0).map((call) => named(call, names, given));
  };
  for (const { name, step, inputs: each } of steps) {
    await step.apply(each, "-parallelism=1");
    calls[name].make = await take(step);
  }
  for (const { name, step, inputs: each } of steps.toReversed()) {
    await step.destroy(each, "-parallelism=1");
    calls[name].remove = await take(step);
  }
  return calls;
}

/** What changes something: the reads of a provider are its own affair. */
const isRead = (action: string) => /^(Describe|Get|List)/.test(action);

function recorded({ ec2, iam }: Aws): Carried[] {
  const carried: Carried[] = [];
  const listen = (service: LayoutCall["service"], { middlewareStack }: { readonly middlewareStack: Aws["ec2"]["middlewareStack"] }) =>
    middlewareStack.add(
      (next, context) => async (args) => {
        const result = await next(args);
        const action = (context.commandName ?? "").replace(/Command$/, "");
        if (!isRead(action)) carried.push({ service, action, input: args.input, output: result.output });
        return result;
      },
      { step: "initialize" },
    );
  listen("ec2", ec2);
  listen("iam", iam as unknown as Aws["ec2"]);
  return carried;
}

/** `subnet-0123` → `aws_subnet.kube_public[0]`, for everything that a state manages. */
function addressesById({ resources }: StateFile): readonly (readonly [string, string])[] {
  return resources
    .filter(({ mode }) => mode === "managed")
    .flatMap(({ module, type, name, instances }) =>
      instances.flatMap(({ index_key: key, attributes }) => {
        const index = key === undefined ? "" : `[${JSON.stringify(key)}]`;
        const { id } = attributes;
        return typeof id === "string" && isId(id)
          ? [[id, `${module === undefined ? "" : `${module}.`}${type}.${name}${index}`] as const]
          : [];
      }),
    );
}

/** Ids that EC2 gives. */
const isId = (text: string) => /^[a-z]+-[0-9a-f]{17}$/.test(text);

/** The call with names in the place of ids, and the names that its answer is the first to give ids to. */
function named({ service, action, input, output }: Carried, names: ReadonlyMap<string, string>, given: Set<string>): LayoutCall {
  const gives: Record<string, string> = {};
  for (const [path, id] of idsIn(output)) {
    const name = names.get(id);
    if (name === undefined || given.has(name)) continue;
    given.add(name);
    gives[name] = path;
  }
  const plain = JSON.parse(JSON.stringify(input), (key, value) => {
    // Tokens are made anew each time.
    if (key === "ClientToken") return undefined;
    if (value?.type === "Buffer") return Buffer.from(value.data).toString();
    return typeof value === "string" && names.has(value) ? `<${names.get(value)}>` : value;
  }) as object;
  return { service, action, input: plain, ...(Object.keys(gives).length > 0 && { gives }) };
}

/** Where ids stand in an answer: `Vpc.VpcId`, `Instances.0.InstanceId`. */
function idsIn(value: unknown, path = ""): readonly (readonly [string, string])[] {
  if (typeof value === "string") return isId(value) ? [[path, value]] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => idsIn(each, path === "" ? key : `${path}.${key}`));
}

/** The text of the generated file, before it is formatted. */
const textOf = (steps: Awaited<ReturnType<typeof recordLayout>>) => `/**
 * The calls by which the layout WithNAT is made and removed, and a permanent node of it: as OpenTofu has them made. Generated by
 * test/referees/opentofu/layout-calls.ts, held to OpenTofu by the test beside that; not edited.
 */
import type { LayoutStep } from "./player.ts";

export const layoutSteps: Readonly<Record<"base" | "node", LayoutStep>> = ${JSON.stringify(steps)};
`;

if (import.meta.main) {
  const ends: (() => unknown)[] = [];
  const after = (end: () => unknown) => void ends.push(end);
  await writeFile(callsFile, textOf(await recordLayout({ after } as Parameters<typeof recordLayout>[0])));
  for (const end of ends) await end();
  execFileSync("biome", ["check", "--write", callsFile]);
}
