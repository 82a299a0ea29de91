/** How a command that could not do its work ends. */
import { isAwsError } from "../aws/errors.ts";
import { exitStatus, Stopped } from "../process/exit.ts";
import { FlagError } from "../runtime/flags.ts";
import { messageOf } from "../runtime/message-of.ts";
import { redact } from "../runtime/redact.ts";
import type { Console } from "./command.ts";

const readsAsYou = "The command reads with your own credentials: they need the read permissions of deploy/iam.";

/**
 * Says what went wrong, without secrets, and gives the exit status: a wrong command line and a signal have ones of their own. `ifDenied` is
 * what to know when AWS does not allow it.
 */
export function failure(command: string, error: unknown, console: Console, ifDenied = readsAsYou): number {
  const message = redact(messageOf(error));
  if (error instanceof FlagError) {
    const hint = error.hint ? `; ${error.hint}` : "";
    console.err(`fairlead ${command}: ${message}${hint}\nRun "fairlead ${command} --help" for its flags.\n`);
    return exitStatus.usage;
  }
  const stopped = stoppedIn(error);
  if (stopped !== undefined) {
    console.err(`fairlead ${command}: ${stopped.message}\n`);
    return exitStatus[stopped.signal];
  }
  const denied = isAwsError(error, "denied") ? ` ${ifDenied}` : "";
  console.err(`fairlead ${command}: ${message}${denied}\n`);
  return exitStatus.failed;
}

/** The signal that what failed was ended by, however often it was wrapped since. */
function stoppedIn(error: unknown): Stopped | undefined {
  if (error instanceof Stopped) return error;
  return error instanceof Error && error.cause !== undefined ? stoppedIn(error.cause) : undefined;
}
