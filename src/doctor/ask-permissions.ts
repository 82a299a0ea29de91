/** Which of the actions that the features need the caller may call. */
import type { Ask } from "../aws/ask.ts";
import type { Cloud, Clouds } from "../aws/cloud.ts";
import { partitionOf } from "../aws/partitions.ts";
import { actionsOfGrant, type Feature, type Grant, iamName, permissions } from "./permissions.ts";
import type { PermissionAnswer, Permissions } from "./picture.ts";
import { simulate } from "./policy-simulator.ts";
import { type Answer, attempt, probe, type Samples } from "./probes.ts";
import { registryProbes } from "./registry-probes.ts";
import { principalOf, type Subject } from "./subject.ts";

export interface Asked {
  readonly cloud: Cloud;
  readonly clouds: Clouds;
  readonly subject: Subject;
  readonly features: readonly Feature[];
  readonly samples: Samples;
  readonly ask: Ask;
}

/** Tries what can be tried, where whoever asks is whom it is about, and asks the simulator for the rest. */
export async function askPermissions(asked: Asked): Promise<Permissions> {
  const { clouds, subject, features, samples, ask } = asked;
  const tried = (await Promise.all(features.map((feature) => answersFor(feature, asked)))).flat();
  const open = tried.filter(({ verdict }) => verdict === "unknown");
  const principal = principalOf(subject.arn);
  const told = open.length === 0 || principal === undefined ? undefined : await simulate(clouds, principal, open, samples, ask);
  const answers = tried.map((answer) => {
    const { grant: _, ...own } = answer;
    return { ...own, ...told?.answers.get(answer) };
  });
  return { subject, answers, ...(told?.objection && { objection: told.objection }) };
}

type GrantAnswer = PermissionAnswer & { readonly grant: Grant };

async function answersFor(feature: Feature, { cloud, clouds, subject, samples, ask }: Asked): Promise<readonly GrantAnswer[]> {
  const answers = permissions[feature].map(async (grant) => {
    const tried = new Map<string, Answer>();
    const actions = actionsOfGrant(grant).filter((name) => isInPartition(registryProbes[name]?.region, cloud.region));
    const mayTry = subject.kind !== "role";
    for (const call of mayTry ? grant.calls : []) {
      const answer = await probe(cloud, feature, call, samples, ask);
      const before = tried.get(iamName(call))?.verdict ?? "unknown";
      // Two services share names: refused by either is refused.
      if (before === "unknown" || answer.verdict === "denied") tried.set(iamName(call), answer);
    }
    for (const name of mayTry ? actions : []) {
      const asked = registryProbes[name];
      // Kubelet's plugin pulls as the machine's own role, whatever role the controllers act as.
      if (asked) tried.set(name, await attempt(clouds.in(asked.region ?? cloud.region), asked.action, asked.input, name, ask));
    }
    return actions.map((action) => ({
      feature,
      grant,
      action,
      ...(tried.get(action) ?? { verdict: "unknown" as const }),
      ...(grant.optional === undefined ? {} : { optional: grant.optional }),
    }));
  });
  return (await Promise.all(answers)).flat();
}

/** Whether a region, if it is one only that answers, lies where the caller's credentials are known. */
function isInPartition(only: string | undefined, home: string): boolean {
  return only === undefined || partitionOf(only).name === partitionOf(home).name;
}
