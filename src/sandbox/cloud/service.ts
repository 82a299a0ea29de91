/** The shape of a simulated service: its place on the wire, and its operations as typed functions. */
import type { StaticOperationSchema } from "@smithy/types";
import type { Clock } from "../../runtime/world.ts";
import type { Principal } from "./access/principals.ts";
import type { Protocol } from "./protocol/protocol.ts";

/** What an operation knows of the call besides its input. */
export interface Call {
  /** `service:Action`, as in IAM policies. */
  readonly action: string;
  readonly requestId: string;
  readonly principal: Principal;
  /** The region the request was signed for. */
  readonly region: string;
}

/** One operation of a service. */
export interface Operation {
  readonly schema: StaticOperationSchema;
  /** A read may be served stale and is left out of the journal. */
  readonly mutates: boolean;
  /** The permission that AWS checks, `service:Action`, where it does not have the operation's own name. */
  readonly permission?: string;
  /** Permissions that AWS checks besides the action itself, `service:Action`. */
  readonly alsoNeeds: (input: Readonly<Record<string, unknown>>) => readonly string[];
  /** What EC2 checks of the parameters in a dry run too: throws the refusal. */
  readonly rehearse: (input: Readonly<Record<string, unknown>>) => void;
  /** Runs at one moment, whole: it answers or throws a `ServiceError`, and never waits. */
  readonly run: (input: Readonly<Record<string, unknown>>, call: Call) => unknown;
  /** In the place of `run`, for what may wait before it answers. It settles the cloud's time and guards the store by itself. */
  readonly wait?: (input: Readonly<Record<string, unknown>>, patience: Patience) => Promise<unknown>;
}

/** What an operation waits with: the clock of the world, and the caller, who may give up. */
export interface Patience {
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

/** Operations of one service, or of a part of it. */
export type Operations = readonly Operation[];

/** A service as the gateway sees it. */
export interface Service {
  /** The prefix of its actions in IAM: `ec2`. */
  readonly name: string;
  readonly signingName: string;
  /** The API version in query requests, the prefix of `x-amz-target` in JSON ones, or how the paths of its requests begin. */
  readonly address: { readonly version: string } | { readonly target: string } | { readonly path: string };
  /** Regions whose signatures it accepts: the cloud's own, any, or the one a global service lives in. */
  readonly region: "own" | "any" | { readonly only: string };
  /** Operations AWS lets anybody call without a signature. */
  readonly unsigned?: readonly string[];
  /** Operations no policy can deny. */
  readonly undeniable?: readonly string[];
  readonly protocol: Protocol;
  readonly operations: Operations;
}

/** An operation that changes nothing; `alsoNeeds` names permissions checked without a call of their own. */
export function read<Input, Output>(
  schema: StaticOperationSchema,
  run: (input: Input, call: Call) => Output,
  alsoNeeds: (input: Input) => readonly string[] = () => [],
): Operation {
  return { schema, mutates: false, alsoNeeds: alsoNeeds as Operation["alsoNeeds"], rehearse: () => {}, run: run as Operation["run"] };
}

/** An operation that changes the account; `alsoNeeds` as in `read`; `rehearse` checks what a dry run checks too. */
export function write<Input, Output>(
  schema: StaticOperationSchema,
  run: (input: Input, call: Call) => Output,
  alsoNeeds: (input: Input) => readonly string[] = () => [],
  rehearse: (input: Input) => void = () => {},
): Operation {
  return {
    schema,
    mutates: true,
    alsoNeeds: alsoNeeds as Operation["alsoNeeds"],
    rehearse: rehearse as Operation["rehearse"],
    run: run as Operation["run"],
  };
}

/** An operation that changes the account and may wait for something to answer with: a long poll. */
export function longPoll<Input, Output>(
  schema: StaticOperationSchema,
  wait: (input: Input, patience: Patience) => Promise<Output>,
): Operation {
  const run = () => {
    throw new Error("a long poll is waited for");
  };
  return { ...write(schema, run), wait: wait as NonNullable<Operation["wait"]> };
}
