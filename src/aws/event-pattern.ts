/**
 * Patterns of EventBridge rules: which events one lets through.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
 */

/** A pattern: by field, the values that are let through, or the pattern of what lies below. */
export interface EventPattern {
  readonly [field: string]: EventPattern | readonly unknown[];
}

/** Whether a pattern lets an event through; undefined where it uses an operator that is not known here. */
export function matchesPattern(pattern: EventPattern, event: Readonly<Record<string, unknown>>): boolean | undefined {
  const verdicts = Object.entries(pattern).map(([field, wanted]) => {
    const value = Object.hasOwn(event, field) ? event[field] : undefined;
    if (field === "$or") return undefined;
    if (Array.isArray(wanted)) return anyOf(wanted.map((each: unknown) => matchesValue(each, value)));
    return isObject(value) ? matchesPattern(wanted as EventPattern, value) : false;
  });
  if (verdicts.includes(false)) return false;
  return verdicts.includes(undefined) ? undefined : true;
}

/** A pattern from its text; undefined when it is none. */
export function readPattern(text: string): EventPattern | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isPattern(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Every leaf of a pattern is a list that is not empty, and so is the pattern itself. */
function isPattern(value: unknown): value is EventPattern {
  if (!isObject(value) || Object.keys(value).length === 0) return false;
  return Object.values(value).every((each) => (Array.isArray(each) ? each.length > 0 : isPattern(each)));
}

/** Of an event's list any item will do. */
function matchesValue(wanted: unknown, value: unknown): boolean | undefined {
  if (isObject(wanted)) {
    const verdicts = Object.entries(wanted).map(([name, operand]) =>
      Object.hasOwn(operators, name) ? operators[name]!(operand, value) : undefined,
    );
    return verdicts.includes(false) ? false : verdicts.includes(undefined) ? undefined : true;
  }
  return itemsOf(value).some((each) => each === wanted);
}

const operators: Readonly<Record<string, (operand: unknown, value: unknown) => boolean>> = {
  exists: (operand, value) => (value !== undefined) === operand,
  prefix: (operand, value) => textsOf(value).some((each) => each.startsWith(String(operand))),
  suffix: (operand, value) => textsOf(value).some((each) => each.endsWith(String(operand))),
  "equals-ignore-case": (operand, value) => textsOf(value).some((each) => each.toLowerCase() === String(operand).toLowerCase()),
  "anything-but": (operand, value) => value !== undefined && itemsOf(value).every((each) => !itemsOf(operand).includes(each)),
};

function anyOf(verdicts: readonly (boolean | undefined)[]): boolean | undefined {
  return verdicts.includes(true) ? true : verdicts.includes(undefined) ? undefined : false;
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [value];
}

function textsOf(value: unknown): readonly string[] {
  return itemsOf(value).filter((each): each is string => typeof each === "string");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
