/** What is used of the ECR client. */
export {
  BatchGetImageCommand,
  ECRClient as Client,
  GetAuthorizationTokenCommand,
  GetDownloadUrlForLayerCommand,
} from "@aws-sdk/client-ecr";
