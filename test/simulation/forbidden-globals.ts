/**
 * While a world is simulated nobody in it, no library either, may reach for the machine's own clock, chance or timers:
 * it is refused, and breaks the history. What the SDK would take by itself it is given (see src/aws/sdk/client.ts).
 */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

/** Forbids them until the returned function is called. */
export function forbidGlobals(onReach: (what: string) => void): () => void {
  const undo: (() => void)[] = [];
  const swap = <T extends object, K extends keyof T>(holder: T, name: K, substitute: T[K]) => {
    const original = holder[name];
    holder[name] = substitute;
    undo.push(() => {
      holder[name] = original;
    });
  };
  const refuse = (what: string): never => {
    const reach = `${what} from ${caller()}`;
    onReach(reach);
    throw new Error(`inside a simulated world: ${reach}`);
  };
  const refusing = (what: string) => (() => refuse(what)) as never;

  class RefusingDate extends Date {
    constructor(...given: [] | [value: number | string | Date]) {
      super(...((given.length === 0 ? refuse("new Date()") : given) as [number]));
    }
    static override now(): number {
      return refuse("Date.now");
    }
  }
  swap(globalThis, "Date", RefusingDate as DateConstructor);
  swap(Math, "random", refusing("Math.random"));
  swap(performance, "now", refusing("performance.now"));
  swap(globalThis, "setTimeout", refusing("setTimeout"));
  swap(globalThis, "setInterval", refusing("setInterval"));
  swap(globalThis, "setImmediate", refusing("setImmediate"));
  swap(AbortSignal, "timeout", refusing("AbortSignal.timeout"));
  for (const name of ["randomBytes", "randomUUID", "randomInt"] as const) swap(crypto, name, refusing(name));
  for (const name of ["getRandomValues", "randomUUID"] as const) swap(globalThis.crypto, name, refusing(`crypto.${name}`));
  syncBuiltinESMExports();
  return () => {
    for (const restore of undo.reverse()) restore();
    syncBuiltinESMExports();
  };
}

/** Where the original was reached for, from the root of the repository. */
function caller(): string {
  const frames = new Error("where").stack?.split("\n").slice(1) ?? [];
  const frame = frames.find((one) => !one.includes("/test/simulation/forbidden-globals.ts")) ?? "nowhere";
  return frame.replace(/^\s*at /, "").replace(/file:\/\/.*?\/(src|test|node_modules)\//, "$1/");
}
