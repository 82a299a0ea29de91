/** Regular expressions of conditions and transforms. */
import { ServiceError } from "../errors.ts";

/** What AWS's engine leaves out: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/rule-transforms.html */
const UNSUPPORTED = /\(\?(?:[=!>]|<[=!])|\\[1-9]|\\[pP]\{|[*+?}]\+/;

/** Refuses one that is too long, that nobody could compile, or that needs what AWS's engine lacks. */
export function checkedRegex(regex: string, maxLength: number): string {
  if (regex === "" || regex.length > maxLength) {
    throw new ServiceError("ValidationError", `The regular expression '${regex}' must have between 1 and ${maxLength} characters`);
  }
  if (UNSUPPORTED.test(regex) || !compiles(regex)) {
    throw new ServiceError("ValidationError", `The regular expression '${regex}' is not valid`);
  }
  return regex;
}

function compiles(regex: string): boolean {
  try {
    new RegExp(regex);
    return true;
  } catch {
    return false;
  }
}
