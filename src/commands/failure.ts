/** How a command that could not do its work ends. */
import { isAwsError } from "../aws/errors.ts";
import { exitStatus } from "../process/exit.ts";
import { FlagError } from "../runtime/flags.ts";
import { messageOf } from "../runtime/message-of.ts";
import { redact } from "../runtime/redact.ts";
import type { Console } from "./command.ts";

/** Says what went wrong, without secrets, and gives the exit status: a wrong command line has one of its own. */
export function failure(command: string, error: unknown, console: Console): number {
  const message = redact(messageOf(error));
  if (error instanceof FlagError) {
    const hint = error.hint ? `; ${error.hint}` : "";
    console.err(`fairlead ${command}: ${message}${hint}\nRun "fairlead ${command} --help" for its flags.\n`);
    return exitStatus.usage;
  }
  const denied = isAwsError(error, "denied")
    ? " The command reads with your own credentials: they need the read permissions of deploy/iam."
    : "";
  console.err(`fairlead ${command}: ${message}${denied}\n`);
  return exitStatus.failed;
}
