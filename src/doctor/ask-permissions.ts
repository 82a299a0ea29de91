/** Which of the actions that the features need the caller may call. */
import type { Ask } from "../aws/ask.ts";
import type { Cloud, Clouds } from "../aws/cloud.ts";
import { partitionOf } from "../aws/partitions.ts";
import { actionsOfGrant, type Feature, iamName, permissions } from "./permissions.ts";
import type { Caller, PermissionAnswer } from "./picture.ts";
import { attempt, probe, type Samples, type Verdict } from "./probes.ts";
import { registryProbes } from "./registry-probes.ts";
import { principalOf, simulate } from "./simulation.ts";

export interface Asked {
  readonly cloud: Cloud;
  readonly clouds: Clouds;
  readonly caller: Caller;
  readonly features: readonly Feature[];
  readonly samples: Samples;
  readonly ask: Ask;
}

/** Tries what can be tried, and asks the simulator for the rest. */
export async function askPermissions(asked: Asked): Promise<readonly PermissionAnswer[]> {
  const tried = (await Promise.all(asked.features.map((feature) => tryFeature(feature, asked)))).flat();
  const open = [...new Set(tried.filter(({ verdict }) => verdict === "unknown").map(({ action }) => action))];
  const principal = principalOf(asked.caller.arn);
  if (open.length === 0 || principal === undefined) return tried;
  const told = await simulate(asked.clouds, principal, open, asked.samples, asked.ask);
  return tried.map((answer) => (answer.verdict === "unknown" ? { ...answer, verdict: told.get(answer.action) ?? "unknown" } : answer));
}

async function tryFeature(feature: Feature, { cloud, clouds, samples, ask }: Asked): Promise<readonly PermissionAnswer[]> {
  const answers = permissions[feature].map(async (grant) => {
    const tried = new Map<string, Verdict>();
    const actions = actionsOfGrant(grant).filter((name) => isInPartition(registryProbes[name]?.region, cloud.region));
    for (const call of grant.calls) {
      const verdict = await probe(cloud, feature, call, samples, ask);
      const before = tried.get(iamName(call));
      // Two services share names: refused by either is refused.
      if (before === undefined || before === "unknown" || verdict === "denied") tried.set(iamName(call), verdict);
    }
    for (const name of actions) {
      const asked = registryProbes[name];
      // Kubelet's plugin pulls as the machine's own role, whatever role the controllers act as.
      if (asked) tried.set(name, await attempt(clouds.in(asked.region ?? cloud.region), asked.action, asked.input, name, ask));
    }
    return actions.map((action) => ({
      feature,
      action,
      verdict: tried.get(action) ?? "unknown",
      ...(grant.optional === undefined ? {} : { optional: grant.optional }),
    }));
  });
  return (await Promise.all(answers)).flat();
}

/** Whether a region, if it is one only that answers, lies where the caller's credentials are known. */
function isInPartition(only: string | undefined, home: string): boolean {
  return only === undefined || partitionOf(only).name === partitionOf(home).name;
}
