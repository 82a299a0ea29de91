/** What ends the process, by the way it is answered. */
import { messageOf } from "../runtime/message-of.ts";

/** What the command line names cannot be used: answered like a bad flag. */
export class ConfigurationFailed extends Error {
  override readonly name = "ConfigurationFailed";
}

/** AWS cannot be used, and waiting will not help. */
export class CloudUnusable extends Error {
  override readonly name = "CloudUnusable";
  constructor(cause: unknown) {
    super(`Cloud provider could not be initialized: could not init cloud provider "aws": ${messageOf(cause)}`, { cause });
  }
}

/** A controller could not be made ready; the process cannot go on without it. */
export class ControllersFailed extends Error {
  override readonly name = "ControllersFailed";
  constructor(controller: string, cause: unknown) {
    super(`error running controllers: ${controller}: ${messageOf(cause)}`, { cause });
  }
}

/** The API server does not answer although this process leads. */
export class ApiServerUnhealthy extends Error {
  override readonly name = "ApiServerUnhealthy";
  constructor(cause: unknown) {
    super(`failed to wait for apiserver being healthy: ${messageOf(cause)}`, { cause });
  }
}
