/** What is used of the SQS client. */
export {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient as Client,
} from "@aws-sdk/client-sqs";
