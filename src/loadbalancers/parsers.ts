/** How values of Ingress annotations are read, and what is said of those that cannot be: texts that users of old look for. */
import { formatCidr, parseCidr } from "../runtime/ip.ts";
import { Fault, type Given } from "./annotation-rows.ts";
import { type Decoder, decodeJson } from "./json-values.ts";
import { parseGoBool, parseInteger, parseList, parseStringMap } from "./values.ts";

export const text = (given: string) => given;

/** What is empty counts as unset. */
export const nonEmpty = (given: string) => given || undefined;

export const list = (given: string): readonly string[] => parseList(given);

export function bool(given: string, { key }: Given): boolean | Fault {
  return parseGoBool(given) ?? new Fault(`failed to parse bool annotation, ${key}: ${given}`);
}

/** Whatever cannot be read counts as no. */
export const softBool = (given: string) => parseGoBool(given) ?? false;

export function int32(given: string, { key }: Given): number | Fault {
  const parsed = parseInteger(given);
  return parsed !== undefined && parsed >= -(2 ** 31) && parsed < 2 ** 31
    ? parsed
    : new Fault(`failed to parse int32 annotation, ${key}: ${given}`);
}

export function int64(given: string, { key }: Given): number | Fault {
  return parseInteger(given) ?? new Fault(`failed to parse int64 annotation, ${key}: ${given}`);
}

export function stringMap(given: string, { key }: Given): Readonly<Record<string, string>> | Fault {
  return parseStringMap(given) ?? new Fault(`failed to parse stringMap annotation, ${key}: ${given}`);
}

export function json<T>(decoder: Decoder<T>): (given: string, about: Given) => T | Fault {
  return (given, { key }) => {
    const decoded = decodeJson(given, decoder);
    return "value" in decoded ? decoded.value : new Fault(`failed to parse json annotation, ${key}: ${given}: ${decoded.fault}`);
  };
}

/** One of these words, exactly. */
export function oneOf<const Word extends string>(
  words: readonly Word[],
  complaint: (given: string) => string,
): (given: string) => Word | Fault {
  return (given) => words.find((word) => word === given) ?? new Fault(complaint(given));
}

/** Blocks of addresses in their canonical form: AWS stores them so, and what is written otherwise would never be found again. */
export function cidrs(given: string): readonly string[] | Fault {
  const faults: string[] = [];
  const blocks = parseList(given).map((entry) => {
    const cidr = parseCidr(entry);
    if (cidr === undefined) faults.push(`invalid CIDR address: ${entry}`);
    return cidr ? formatCidr(cidr) : entry;
  });
  return faults.length > 0 ? new Fault(...faults) : blocks;
}

export function loadBalancerName(given: string): string | Fault {
  return given.length > 32 ? new Fault("load balancer name cannot be longer than 32 characters") : given;
}

export function capacityUnits(given: string, about: Given): number | undefined | Fault {
  const map = stringMap(given, about);
  if (map instanceof Fault) return map;
  let units: number | undefined;
  for (const [key, value] of Object.entries(map)) {
    if (key !== "CapacityUnits") return new Fault(`invalid key to set the capacity: ${key}, Expected key: CapacityUnits`);
    units = parseInteger(value);
    if (units === undefined) return new Fault(`invalid value to set the capacity: ${value}`);
  }
  return units;
}
