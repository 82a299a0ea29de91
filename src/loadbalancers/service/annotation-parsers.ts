/** How values of Service annotations are read, and what is said of those that cannot be: texts that users of old know. */
import { Fault, type Given } from "../annotation-rows.ts";
import { parseGoBool, parseInteger, parseKeyValues, parseList } from "../values.ts";

/** What is said differently from kind to kind. */
export interface ParserContext {
  /** What is said of a number that is none. */
  readonly badNumber: string;
}

export const text = (given: string) => given;

export function flag(given: string, about: Given): boolean | Fault {
  return parseGoBool(given) ?? unreadable(given, about);
}

export function int32(given: string, about: Given): number | Fault {
  const parsed = parseInteger(given);
  return parsed === undefined || Math.abs(parsed) > 2 ** 31 - 1 ? unreadable(given, about) : parsed;
}

export function threshold(given: string, { key, takes, badNumber }: Given & ParserContext): number | Fault {
  return parseInteger(given) ?? new Fault(`${badNumber} ${key}=${given} (takes ${takes})`);
}

export function oneOf<const Word extends string>(...words: readonly Word[]) {
  return (given: string, about: Given): Word | Fault => words.find((word) => word === given) ?? invalid(given, about);
}

export function loadBalancerName(given: string, about: Given): string | Fault {
  return /^[a-zA-Z0-9]([a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?$/.test(given) && !given.startsWith("internal-") ? given : invalid(given, about);
}

export const isInternal = (given: string) => given !== "false";

export function allPorts(given: string, { key }: Given): true | Fault {
  return given === "*" || new Fault(`annotation "${key}"="${given}" detected, but the only value supported currently is '*'`);
}

export function subnets(given: string): readonly string[] | Fault {
  const named = parseList(given);
  return named.length === 0 ? new Fault("unable to resolve empty subnet slice") : named;
}

export const ports = (given: string): "all" | ReadonlySet<string> => (given === "*" ? "all" : new Set(given.split(",")));

/** In the order of the subnets, so none is left out. */
export const entries = (given: string): readonly string[] => given.split(",").map((entry) => entry.trim());

const targetGroupAttributeKeys = ["preserve_client_ip.enabled", "proxy_protocol_v2.enabled"];

export function targetGroupAttributes(given: string): Readonly<Record<string, string>> | Fault {
  const attributes = parseKeyValues(given);
  const faults = Object.entries(attributes).flatMap(([key, value]) => targetGroupAttributeFault(key, value) ?? []);
  return faults.length > 0 ? new Fault(...faults.map((fault) => `error validating target group attributes: ${fault}`)) : attributes;
}

function targetGroupAttributeFault(key: string, value: string): string | undefined {
  if (value === "") return `attribute value is empty for "${key}"`;
  if (!targetGroupAttributeKeys.includes(key)) {
    return `the attribute "${key}" is not supported by the controller or is invalid (supported: ${targetGroupAttributeKeys.join(", ")})`;
  }
  return value === "true" || value === "false" ? undefined : `invalid attribute value for "${key}": ${value} (takes true or false)`;
}

const unreadable = (given: string, { key, takes }: Given) =>
  new Fault(`error parsing service annotation: ${key}=${given} (takes ${takes})`);

const invalid = (given: string, { key, takes }: Given) =>
  new Fault(`annotation ${key}=${JSON.stringify(given)} is not valid: it takes ${takes}`);
