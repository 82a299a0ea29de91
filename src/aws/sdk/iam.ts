/** What is used of the IAM client. */
export { IAMClient as Client, SimulatePrincipalPolicyCommand } from "@aws-sdk/client-iam";
