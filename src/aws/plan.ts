/**
 * A plan: the AWS calls that lead from what is seen to what is wanted, in order, each with its reason. It is data that a
 * person can read and a machine can compare; the controller carries out exactly what `fairlead plan` prints.
 */
import { rememberSecret } from "../runtime/known-secrets.ts";
import { Secret } from "../runtime/secret.ts";
import type { Action } from "./actions.ts";

/** Something that an earlier step of the plan makes: known by name until AWS gives it an id. */
export interface Made {
  readonly made: string;
}

export const made = (name: string): Made => ({ made: name });

/** An action's input in which any text may be something yet to be made, or something that is never shown. */
export type Planned<T> = T extends string
  ? T | Made | Secret
  : T extends Date | Uint8Array
    ? T
    : T extends readonly (infer Item)[]
      ? readonly Planned<Item>[]
      : T extends object
        ? { readonly [Key in keyof T]: Planned<T[Key]> }
        : T;

export interface Step {
  /** `create target group k8s-web-… TCP:31234, checked by HTTP:32000/healthz` */
  readonly what: string;
  readonly why: string;
  readonly action: Action<object, unknown>;
  readonly effect: Effect;
  readonly input: Planned<object>;
  /** The thing it makes, and where in the answer its id stands. */
  readonly makes?: { readonly name: string; readonly id: (output: unknown) => string | undefined };
  /** Error codes by which AWS says that it is as wanted already. */
  readonly settledBy: readonly string[];
  /** Error codes by which AWS says that something else has to go first, or that we look at old data. */
  readonly waitsOn: readonly string[];
  /** Error codes by which AWS says that there is no room: the step is tried once more after all others, which may make some. */
  readonly needsRoom: readonly string[];
  /** Set on a step about several things, of which AWS refuses all when it refuses one. */
  readonly batch?: Batch;
  /** Of several who share what the plan is about, whoever asked for what AWS may refuse here: whatever it says, or by error code. */
  readonly by?: Asker;
  /** Set on a step about nothing but which targets are registered: their own writer decides it anew when its turn comes. */
  readonly part?: "targets";
}

/** Whether a step brings something, changes what is there, or takes something away. */
export type Effect = "create" | "change" | "delete";

/** How the names of actions begin, by their effect; all others change something. */
const verbs = { create: ["Create", "Authorize", "Register", "Attach"], delete: ["Delete", "Revoke", "Deregister", "Detach"] } as const;

function effectOf({ name }: { readonly name: string }): Effect {
  const begins = (verb: string) => name.startsWith(verb);
  if (verbs.create.some(begins)) return "create";
  return verbs.delete.some(begins) ? "delete" : "change";
}

export type Asker = string | Readonly<Record<string, string>>;

/** Whose wish AWS has refused with this error code; undefined where it is not one's own. */
export const askerOf = ({ by }: Pick<Step, "by">, code: string): string | undefined => (typeof by === "string" ? by : by?.[code]);

/** Several things in one call, which can be tried apart from each other. */
export interface Batch {
  readonly ids: readonly string[];
  /** Error codes by which AWS refuses the whole call because of one of them. */
  readonly refusedBy: readonly string[];
  /** The same step for some of them. */
  readonly only: (ids: readonly string[]) => Step;
}

export interface StepOptions<Output> {
  readonly what: string;
  readonly why: string;
  readonly makes?: { readonly name: string; readonly id: (output: Output) => string | undefined };
  readonly settledBy?: readonly string[];
  readonly waitsOn?: readonly string[];
  readonly needsRoom?: readonly string[];
  readonly batch?: Batch;
  readonly by?: Asker | undefined;
  readonly part?: "targets";
}

/** One call of a plan. The input is checked against the action's own type. */
export function step<Input extends object, Output>(
  action: Action<Input, Output>,
  input: Planned<Input>,
  options: StepOptions<Output>,
): Step {
  return {
    what: options.what,
    why: options.why,
    // The pair of action and input was checked above; from here on it is carried, printed and resolved as plain data.
    action: action as unknown as Action<object, unknown>,
    effect: effectOf(action),
    input: input as Planned<object>,
    makes: options.makes as Step["makes"],
    settledBy: options.settledBy ?? [],
    waitsOn: options.waitsOn ?? [],
    needsRoom: options.needsRoom ?? [],
    ...(options.batch && { batch: options.batch }),
    ...(options.by !== undefined && { by: options.by }),
    ...(options.part && { part: options.part }),
  };
}

/** Whether a step is a call of this action. */
export const isStepOf = ({ action }: Step, { service, name }: Pick<Step["action"], "service" | "name">): boolean =>
  action.service === service && action.name === name;

export const isMade = (value: unknown): value is Made =>
  typeof value === "object" && value !== null && typeof (value as Made).made === "string";

/** The input with everything made so far put in its place. Throws when something is not made yet: a fault of the plan's order. */
export function resolved<T>(input: Planned<T>, ids: ReadonlyMap<string, string>): T {
  const resolve = (value: unknown): unknown => {
    if (isMade(value)) {
      const id = ids.get(value.made);
      if (id === undefined) throw new Error(`the plan uses ${value.made} before it is made`);
      return id;
    }
    if (value instanceof Secret) return sent(value);
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null || value instanceof Date || value instanceof Uint8Array) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  };
  return resolve(input) as T;
}

/** What AWS refuses it may repeat in the error, so what is sent is masked from then on. */
function sent(secret: Secret): string {
  const value = secret.reveal();
  rememberSecret(value);
  return value;
}

/** The steps as text, one a line. */
export function planText(steps: readonly Step[]): string {
  return steps.map(({ what, why }) => `${what}  (${why})`).join("\n");
}

/** The steps as JSON: what, why, the IAM-style action and its input, things to be made as `<name>`. */
export function planJson(steps: readonly Step[]): readonly object[] {
  return steps.map(({ what, why, action, input }) => ({
    what,
    why,
    action: `${action.service}:${action.name}`,
    input: JSON.parse(JSON.stringify(input, (_, value: unknown) => (isMade(value) ? `<${value.made}>` : value))),
  }));
}
