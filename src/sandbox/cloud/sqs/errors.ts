/** SQS's refusals. Its JSON protocol has short codes; older clients know the longer ones, which it sends in a header beside them. */
import { ServiceError } from "../errors.ts";

/** The codes of the query protocol, for the header `x-amzn-query-error`, where they differ. */
export const QUERY_CODES: Readonly<Record<string, string>> = {
  QueueDoesNotExist: "AWS.SimpleQueueService.NonExistentQueue",
  QueueDeletedRecently: "AWS.SimpleQueueService.QueueDeletedRecently",
  QueueNameExists: "QueueAlreadyExists",
  PurgeQueueInProgress: "AWS.SimpleQueueService.PurgeQueueInProgress",
  EmptyBatchRequest: "AWS.SimpleQueueService.EmptyBatchRequest",
  TooManyEntriesInBatchRequest: "AWS.SimpleQueueService.TooManyEntriesInBatchRequest",
  BatchEntryIdsNotDistinct: "AWS.SimpleQueueService.BatchEntryIdsNotDistinct",
  InvalidBatchEntryId: "AWS.SimpleQueueService.InvalidBatchEntryId",
  BatchRequestTooLong: "AWS.SimpleQueueService.BatchRequestTooLong",
  MessageNotInflight: "AWS.SimpleQueueService.MessageNotInflight",
  AccessDeniedException: "AccessDenied",
};

/** A parameter that SQS does not take, and why. */
export function invalid(parameter: string, value: unknown, reason: string): ServiceError {
  return new ServiceError("InvalidParameterValue", `Value ${value} for parameter ${parameter} is invalid. Reason: ${reason}`);
}

/** A whole number within its range. */
export function checkedNumber(parameter: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalid(parameter, value, `Must be between ${min} and ${max}, if provided.`);
}
