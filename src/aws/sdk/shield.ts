/** What is used of the client of Shield Advanced. */
export {
  CreateProtectionCommand,
  DeleteProtectionCommand,
  DescribeProtectionCommand,
  GetSubscriptionStateCommand,
  ShieldClient as Client,
} from "@aws-sdk/client-shield";
