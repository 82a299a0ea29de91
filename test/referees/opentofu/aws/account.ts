/** How the stand-in provider reaches AWS: clients of the simulated cloud, and waiting, which moves that cloud's clock. */
import { setImmediate } from "node:timers/promises";
import { CreateTagsCommand, DeleteTagsCommand, EC2Client, type ResourceType, type Tag, type TagSpecification } from "@aws-sdk/client-ec2";
import { IAMClient } from "@aws-sdk/client-iam";
import { STSClient } from "@aws-sdk/client-sts";
import type { Cloud } from "../../../../src/sandbox/cloud/cloud.ts";
import { sdkConfig } from "../../../../src/sandbox/cloud/sdk-handler.ts";
import type { Value } from "../msgpack.ts";
import type { Fields } from "../plan.ts";

export interface Aws {
  readonly ec2: EC2Client;
  readonly iam: IAMClient;
  readonly sts: STSClient;
  readonly region: string;
  /** Lets the cloud's clock move on. */
  pass(ms: number): void | Promise<void>;
}

export function awsOf(cloud: Cloud, pass: Aws["pass"]): Aws {
  const config = { ...sdkConfig(cloud), maxAttempts: 1 };
  return { ec2: new EC2Client(config), iam: new IAMClient(config), sts: new STSClient(config), region: cloud.account.region, pass };
}

const STEP_MS = 5_000;
const MAX_STEPS = 400;

/** Asks until there is an answer, with the cloud's clock moving on in between. */
export async function waitFor<T>(aws: Aws, what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (let step = 0; step < MAX_STEPS; step++) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    // Others make progress first: what is waited for may be their doing.
    await setImmediate();
    await aws.pass(STEP_MS);
  }
  throw new Error(`waited ${(MAX_STEPS * STEP_MS) / 60_000} minutes for ${what}`);
}

/** Tries until AWS no longer refuses with one of these codes. */
export async function persist<T>(aws: Aws, what: string, codes: readonly string[], attempt: () => Promise<T>): Promise<T> {
  const { done } = await waitFor(aws, what, async () => {
    try {
      return { done: await attempt() };
    } catch (error) {
      if (codes.includes((error as Error).name)) return undefined;
      throw error;
    }
  });
  return done;
}

/** The answer, or undefined if AWS says that there is no such thing. */
export async function unlessMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (/NotFound|NoSuchEntity/.test((error as Error).name)) return undefined;
    throw error;
  }
}

export function text(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}

export function optionalText(value: Value | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function texts(value: Value | undefined): string[] {
  return Array.isArray(value) ? (value as string[]) : [];
}

/** Tags of a state as AWS takes them. */
export function tagList(tags: Value | undefined): Tag[] {
  return Object.entries((tags ?? {}) as Record<string, string>).map(([Key, Value]) => ({ Key, Value }));
}

export function tagged(type: ResourceType, tags: Value | undefined): { TagSpecifications?: TagSpecification[] } {
  const list = tagList(tags);
  return list.length === 0 ? {} : { TagSpecifications: [{ ResourceType: type, Tags: list }] };
}

/** Tags of AWS as a state has them: no tags are what they were in the state, nothing or an empty map. */
export function tagsIn(state: Fields, tags: readonly { readonly Key?: string; readonly Value?: string }[] | undefined): Fields {
  const map = Object.fromEntries((tags ?? []).map(({ Key, Value }) => [Key!, Value!]));
  const shown = Object.keys(map).length === 0 ? (state.tags ?? null) : map;
  return { tags: isEmptyMap(map) && !isEmptyMap(shown) ? {} : shown, tags_all: map };
}

function isEmptyMap(value: Value): boolean {
  return value === null || Object.keys(value as object).length === 0;
}

/** Brings the tags of a resource of EC2 from one state's to another's. */
export async function retag({ ec2 }: Aws, id: string, before: Value | undefined, after: Value | undefined): Promise<void> {
  const [old, now] = [(before ?? {}) as Record<string, string>, (after ?? {}) as Record<string, string>];
  const gone = Object.keys(old).filter((key) => !(key in now));
  const set = Object.entries(now).filter(([key, value]) => old[key] !== value);
  if (gone.length > 0) await ec2.send(new DeleteTagsCommand({ Resources: [id], Tags: gone.map((Key) => ({ Key })) }));
  if (set.length > 0) await ec2.send(new CreateTagsCommand({ Resources: [id], Tags: set.map(([Key, Value]) => ({ Key, Value })) }));
}
