/** What is wrong with one route, or one rule of it: it is told to its author, and nobody else is concerned. */
import { messageOf } from "../../runtime/message-of.ts";
import type { RouteFailure } from "./attachment.ts";

export class RouteFault extends Error implements RouteFailure {
  override readonly name: string = "RouteFault";
  /** One of the API's. */
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** What a rule asks for cannot be had, or cannot be known, for now: what stands in its place stays as it is. */
export class HeldFault extends RouteFault {
  override readonly name = "HeldFault";
  /** Whether it says nothing about the rule: somebody could not be asked. It is told to nobody whose rule stands. */
  readonly isUnknown: boolean;

  constructor(message: string, { isUnknown = false }: { readonly isUnknown?: boolean } = {}) {
    super(isUnknown ? "Pending" : "UnsupportedValue", message);
    this.isUnknown = isUnknown;
  }
}

/** What is wrong with a Gateway or its configuration: nothing of it is changed until it is mended. */
export class GatewayFault extends Error {
  override readonly name = "GatewayFault";
  /** Whether it says nothing about the Gateway: somebody could not be asked. */
  readonly isUnknown: boolean;

  constructor(message: string, { isUnknown = false }: { readonly isUnknown?: boolean } = {}) {
    super(message);
    this.isUnknown = isUnknown;
  }
}

/** A failure that somebody could not be told of: that is made up for at once, and not after the pauses between failures. */
export class Untold extends Error {
  override readonly name = "Untold";

  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}

/** The value, or the fault that keeps it from being there. */
export function attempt<T>(build: () => T): { readonly value: T } | { readonly fault: RouteFault } {
  try {
    return { value: build() };
  } catch (error) {
    if (error instanceof RouteFault) return { fault: error };
    throw error;
  }
}
