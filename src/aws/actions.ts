/** An API action as a value: which service, which name, and how to load the SDK's command for it. */
import type { MetadataBearer } from "@smithy/types";
import type { SdkClientClass } from "./sdk/client.ts";
import type { ServiceName } from "./services.ts";

/** An action, whatever goes in and comes out. */
export interface AnyAction {
  readonly service: ServiceName;
  readonly name: string;
  /** The name of its permission in IAM, where that is not its own. */
  readonly permission?: string;
  /** Whether it changes anything. What does, passes the write gate. */
  readonly writes: boolean;
  load(): Promise<{ readonly Client: SdkClientClass }>;
}

export interface Action<Input extends object, Output> extends AnyAction {
  load(): Promise<{ readonly Client: SdkClientClass; readonly Command: CommandClass<Input, Output> }>;
}

/** As much of an SDK command class as its input and output are inferred from. */
export type CommandClass<Input extends object, Output> = new (
  input: Input,
) => { readonly input: Input; resolveMiddleware(...args: never[]): (args: { input: Input }) => Promise<{ output: Output }> };

/** Declares the actions of one service: `const ec2 = actionsOf("ec2", () => import("./sdk/ec2.ts"))`. */
export function actionsOf<Sdk extends { readonly Client: unknown }>(service: ServiceName, load: () => Promise<Sdk>) {
  return <Input extends object, Output extends MetadataBearer>(
    name: string,
    pick: (sdk: Sdk) => CommandClass<Input, Output>,
    permission?: string,
  ): Action<Input, Output> => ({
    service,
    name,
    ...(permission !== undefined && { permission }),
    writes: !readVerbs.test(name),
    async load() {
      const sdk = await load();
      // The SDK's own configuration types demand far more than a client needs when everything is given.
      return { Client: sdk.Client as SdkClientClass, Command: pick(sdk) };
    },
  });
}

/** Anything that does not begin like a read is taken for a write, so that a new action is gated until it is known. */
const readVerbs = /^(Describe|Get|List|Receive|Search|Simulate|Batch(Get|Check)|Assume)/;
