import * as z from "zod";
import type { SettingsChange } from "./controls.ts";
import type { FaultRule } from "./faults.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";

const statement = z.strictObject({
  effect: z.enum(["allow", "deny"]),
  actions: z.array(z.string()),
  principals: z.array(z.string()).optional(),
  resources: z.array(z.string()).optional(),
  condition: z.record(z.string(), z.record(z.string(), z.union([z.string(), z.array(z.string())]))).optional(),
});

const trust = z.strictObject({
  roleArn: z.string(),
  principals: z.array(z.string()).optional(),
  webIdentity: z.strictObject({ issuer: z.string(), audience: z.string(), subject: z.string() }).optional(),
  maxSessionSeconds: z.number().int().positive().optional(),
});

const quotaNames = Object.keys(DEFAULT_SETTINGS.quotas) as (keyof typeof DEFAULT_SETTINGS.quotas)[];

/** A change of settings as it comes over HTTP. */
export const settingsSchema: z.ZodType<SettingsChange> = z.strictObject({
  speed: z.number().positive().optional(),
  latency: z.strictObject({ minMs: z.number().min(0).optional(), maxMs: z.number().min(0).optional() }).optional(),
  pageSize: z.number().int().positive().optional(),
  buckets: z.record(z.string(), z.strictObject({ capacity: z.number().positive(), refillPerSecond: z.number().min(0) })).optional(),
  quotas: z.partialRecord(z.enum(quotaNames), z.number().int().min(0)).optional(),
  staleness: z.strictObject({ maxAgeMs: z.number().min(0).optional(), probability: z.number().min(0).max(1).optional() }).optional(),
  policy: z.array(statement).optional(),
  trust: z.array(trust).optional(),
  keys: z.array(z.string()).optional(),
  guardTargets: z.boolean().optional(),
  checkInstanceProfiles: z.boolean().optional(),
  maxSkewMs: z.number().positive().optional(),
});

/** A fault rule as it comes over HTTP. */
export const faultRuleSchema: z.ZodType<FaultRule> = z.strictObject({
  action: z.string(),
  effect: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("fail"), code: z.string(), message: z.string().optional(), status: z.number().int().optional() }),
    z.strictObject({
      kind: z.literal("fail-afterwards"),
      code: z.string(),
      message: z.string().optional(),
      status: z.number().int().optional(),
    }),
    z.strictObject({ kind: z.literal("throttle") }),
    z.strictObject({ kind: z.literal("delay"), ms: z.number().min(0) }),
    z.strictObject({ kind: z.literal("cut") }),
    z.strictObject({ kind: z.literal("lose-answer") }),
    z.strictObject({ kind: z.literal("stale"), ageMs: z.number().positive() }),
  ]),
  probability: z.number().min(0).max(1).optional(),
  calls: z.array(z.number().int().positive()).optional(),
  skip: z.number().int().min(0).optional(),
  times: z.number().int().min(0).optional(),
  containing: z.string().optional(),
});
