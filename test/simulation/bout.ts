import type { Scene } from "./scene.ts";

/** A part of a kit among its users, beside the replicas, for as long as faults are injected and `boutLimitMs` after it. */
export type Bout = (scene: Scene, signal: AbortSignal) => Promise<void>;

/** Time enough for all who still wait, at the slowest rate a throttle leaves. */
export const boutLimitMs = 120_000;
