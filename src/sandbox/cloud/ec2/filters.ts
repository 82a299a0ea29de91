/** Filters of the Describe calls: a table of names, each with the values a record has for it. */
import type { Filter } from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { matcher } from "../wildcard.ts";
import type { Tags } from "./state.ts";

type Scalar = string | number | boolean | undefined;
/** The filters of one Describe call: for each name, the values a record has for it. */
export type FilterTable<T> = Readonly<Record<string, (record: T) => Scalar | readonly Scalar[]>>;

const MAX_FILTERS = 50;
const MAX_VALUES = 200;

/**
 * The records that pass every filter. A filter passes when any of its values matches any of the record's: AWS's rule for
 * fields with one value and for lists alike.
 */
export function filtered<T>(records: readonly T[], filters: readonly Filter[] | undefined, table: FilterTable<T>): readonly T[] {
  if (filters === undefined || filters.length === 0) return records;
  if (filters.length > MAX_FILTERS) throw tooMany(`The maximum number of filters specified on a single call is ${MAX_FILTERS}`);
  const tests = filters.map((filter) => compile(filter, table));
  return records.filter((record) => tests.every((test) => test(record)));
}

/** The filters every tagged resource has: `tag:key`, `tag-key` and `tag-value`. */
export function tagFilters<T extends { readonly tags: Tags }>(): FilterTable<T> {
  return {
    "tag-key": (record) => Object.keys(record.tags),
    "tag-value": (record) => Object.values(record.tags),
    [TAG]: () => undefined,
  };
}

/** Stands in a table for all names that start with `tag:`. */
const TAG = "tag:";

function compile<T>(filter: Filter, table: FilterTable<T>): (record: T) => boolean {
  const name = filter.Name ?? "";
  const values = filter.Values ?? [];
  const read = accessor(name, table);
  if (values.length === 0) throw new ServiceError("InvalidParameterValue", `The filter '${name}' must have at least one value`);
  if (values.length > MAX_VALUES) throw tooMany(`The maximum number of filter values specified on a single call is ${MAX_VALUES}`);
  const exact = new Set(values.filter((value) => !/[*?\\]/.test(value)));
  const patterns = values.filter((value) => !exact.has(value)).map(matcher);
  const accepts = (value: Scalar) => {
    if (value === undefined) return false;
    const text = String(value);
    return exact.has(text) || patterns.some((matches) => matches(text));
  };
  return (record) => {
    const value = read(record);
    return isList(value) ? value.some(accepts) : accepts(value);
  };
}

function accessor<T>(name: string, table: FilterTable<T>): FilterTable<T>[string] {
  if (name.startsWith(TAG) && name !== TAG && table[TAG] !== undefined) {
    const key = name.slice(TAG.length);
    return (record) => (record as { readonly tags: Tags }).tags[key];
  }
  const read = Object.hasOwn(table, name) && name !== TAG ? table[name] : undefined;
  if (read === undefined) throw new ServiceError("InvalidParameterValue", `The filter '${name}' is invalid`);
  return read;
}

function isList(value: Scalar | readonly Scalar[]): value is readonly Scalar[] {
  return Array.isArray(value);
}

function tooMany(message: string): ServiceError {
  return new ServiceError("FilterLimitExceeded", message);
}
