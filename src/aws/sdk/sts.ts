/** What is used of the STS client. */
export { AssumeRoleCommand, AssumeRoleWithWebIdentityCommand, GetCallerIdentityCommand, STSClient as Client } from "@aws-sdk/client-sts";
