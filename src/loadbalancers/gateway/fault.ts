/** What is wrong with one route, or one rule of it: it is told to its author, and nobody else is concerned. */
import type { RouteFailure } from "./attachment.ts";

export class RouteFault extends Error implements RouteFailure {
  override readonly name = "RouteFault";
  /** One of the API's. */
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** What is wrong with a Gateway or its configuration: nothing of it is changed until it is mended. */
export class GatewayFault extends Error {
  override readonly name = "GatewayFault";
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
