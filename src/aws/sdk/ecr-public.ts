/** What is used of the client of ECR Public. */
export { ECRPUBLICClient as Client, GetAuthorizationTokenCommand } from "@aws-sdk/client-ecr-public";
