import assert from "node:assert/strict";
import { test } from "node:test";
import { apply } from "./apply.ts";
import { registerTargets } from "./elbv2-actions.ts";
import { AwsError } from "./errors.ts";
import { type Step, step } from "./plan.ts";

const register = (ids: readonly string[]): Step =>
  step(
    registerTargets,
    { TargetGroupArn: "arn", Targets: ids.map((Id) => ({ Id })) },
    { what: ids.join(), why: "", batch: { ids, refusedBy: ["InvalidTarget"], only: register } },
  );

const refusal = (message: string, code = "InvalidTarget") =>
  new AwsError({ class: "invalid", code, service: "elbv2", action: "RegisterTargets", region: "us-east-1", message });

/** Takes a batch unless one of these is in it, and names them in the error if it is one to name names. */
async function applied(ids: readonly string[], bad: readonly string[], names: boolean) {
  const taken: string[] = [];
  let calls = 0;
  const call = async (_: unknown, { Targets = [] }: { readonly Targets?: readonly { readonly Id?: string }[] }) => {
    calls++;
    const given = Targets.map(({ Id = "" }) => Id);
    const refused = given.filter((id) => bad.includes(id));
    if (refused.length > 0) throw refusal(names ? `not valid: '${refused[0]}'` : "one of them is not valid");
    taken.push(...given);
    return {};
  };
  const result = await apply([register(ids), register(["i-last"])], { call } as never, {
    cause: "test",
    signal: new AbortController().signal,
    urgency: "user",
  });
  return { taken: taken.toSorted(), refused: result.refused.flatMap((each) => each.ids).toSorted(), calls };
}

const ids = Array.from({ length: 64 }, (_, i) => `i-${i}`);

for (const names of [true, false]) {
  test(`one that is refused is left out of its batch, and later steps go on, ${names ? "by its name" : "by halves"}`, async () => {
    const { taken, refused, calls } = await applied(ids, ["i-1", "i-17"], names);
    assert.deepEqual(refused, ["i-1", "i-17"]);
    assert.deepEqual(taken, [...ids.filter((id) => id !== "i-1" && id !== "i-17"), "i-last"].toSorted());
    assert.ok(calls <= (names ? 4 : 26), `${calls} calls`);
  });
}

test("a batch that is refused whole is refused one by one; any other error ends the plan", async () => {
  assert.deepEqual((await applied(["i-1", "i-2", "i-3"], ["i-1", "i-2", "i-3"], false)).refused, ["i-1", "i-2", "i-3"]);
  const call = async () => Promise.reject(refusal("i-1 is one too many", "TooManyTargets"));
  const options = { cause: "test", signal: new AbortController().signal, urgency: "user" } as const;
  await assert.rejects(apply([register(["i-1", "i-2"])], { call } as never, options), /TooManyTargets/);
});

test("what finds no room is tried once more after the steps that may make some", async () => {
  const roomy = (id: string): Step => ({ ...register([id]), needsRoom: ["TooManyTargets"] });
  const options = { cause: "test", signal: new AbortController().signal, urgency: "user" } as const;
  const tried: string[] = [];
  const taker = (room: (id: string) => boolean) => async (_: unknown, input: { readonly Targets: readonly { readonly Id: string }[] }) => {
    const id = input.Targets[0]!.Id;
    tried.push(id);
    if (!room(id)) throw refusal("no room", "TooManyTargets");
    return {};
  };
  const steps = [roomy("i-new"), register(["i-gone"])];
  assert.equal((await apply(steps, { call: taker((id) => id !== "i-new" || tried.includes("i-gone")) } as never, options)).kind, "done");
  assert.deepEqual(tried.splice(0), ["i-new", "i-gone", "i-new"]);
  await assert.rejects(apply(steps, { call: taker((id) => id !== "i-new") } as never, options), /TooManyTargets/);
  assert.deepEqual(tried, ["i-new", "i-gone", "i-new"], "once");
});
