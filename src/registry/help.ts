/** What `--help` prints. */
import { ownVariables } from "./settings.ts";

/** The description and the usage. */
export function help(): string {
  return `ECR credential provider for kubelet\n\n${usage()}`;
}

/** How the program is called, as it is shown after a wrong call too. */
export function usage(): string {
  const width = Math.max(...ownVariables.map(({ name }) => name.length));
  const variables = ownVariables.map(({ name, meaning }) => `  ${name.padEnd(width)}  ${meaning}`);
  return `Usage:
  ecr-credential-provider [flags]                answer the request on standard input, as kubelet calls it
  ecr-credential-provider config [flags]         print a CredentialProviderConfig for kubelet
  ecr-credential-provider test IMAGE [flags]     show what kubelet would get for an image, and why

Flags:
  -h, --help                help for ecr-credential-provider
      --log-format string   text or json (default "text")
      --log-level string    error, warn or info (default "info")
  -v, --version             version for ecr-credential-provider

Flags of config:
      --service-account-tokens   let service accounts choose the role to pull with (Kubernetes 1.34 or later)
      --output string            yaml or json (default "yaml")

Flags of test:
      --token-file string    a service account token to send along, as kubelet would
      --annotation key=value an annotation of the service account; can be repeated

Environment (beside the variables of AWS's SDKs):
${variables.join("\n")}
`;
}
