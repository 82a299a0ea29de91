/**
 * Where the AWS SDK for Go (config v1.33.13) gets its credentials from, over the matrix of what an environment can say.
 * Observed, by `go run .` in test/referees/credential-chain, which plays the same matrix.
 */

type Environment = Readonly<Record<string, string>>;

/** Where the agents of the matrix answer: a metadata service, a container endpoint at a full URI. */
export const matrixAgent = "http://127.0.0.1:7";

const token = "/files/token";
const role = { AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/r" };
const files = (path: string, config = "/files/none") => ({ AWS_SHARED_CREDENTIALS_FILE: path, AWS_CONFIG_FILE: config });

/** The files of every combination. */
export const matrixFiles: Readonly<Record<string, string>> = {
  [token]: "token",
  "/files/keys": `[default] # comment
aws_access_key_id = D ; comment
aws_secret_access_key = s # comment
[named]
aws_access_key_id: N
AWS_SECRET_ACCESS_KEY = "s#"
`,
  "/files/region": "[default]\nregion = us-east-1\n[named]\nregion = us-east-1\n",
  "/files/partial": "[default]\naws_access_key_id = D\n[named]\naws_secret_access_key = s\n",
};

const dimensions: readonly (readonly Environment[])[] = [
  [{}, { AWS_ACCESS_KEY_ID: "E", AWS_SECRET_ACCESS_KEY: "s" }, { AWS_ACCESS_KEY_ID: "E" }, { AWS_ACCESS_KEY: "E", AWS_SECRET_KEY: "s" }],
  [{}, { AWS_WEB_IDENTITY_TOKEN_FILE: token, ...role }, { AWS_WEB_IDENTITY_TOKEN_FILE: token }, role],
  [
    {},
    { AWS_PROFILE: "named" },
    { AWS_PROFILE: "missing" },
    { AWS_DEFAULT_PROFILE: "named" },
    { AWS_PROFILE: "named", AWS_DEFAULT_PROFILE: "missing" },
  ],
  [
    files("/files/none"),
    files("/files/keys"),
    files("/files/region"),
    files("/files/partial"),
    files(`${token}/below-a-file`, `${token}/below-a-file`),
    files("/files", "/files"),
  ],
  [
    {},
    { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/relative" },
    { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${matrixAgent}/full` },
    { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/relative", AWS_CONTAINER_CREDENTIALS_FULL_URI: `${matrixAgent}/full` },
  ],
  [{}, { AWS_EC2_METADATA_DISABLED: "true" }],
];

/**
 * A line for each of the first two dimensions, a word for each of the third, a letter for each of the fourth: whose key
 * was used (E environment, W web identity, D and N the profiles), x for a failure, and m where the last two decide.
 */
const observed = `
  mDmxmx xNmxxx xxxxxx mNmxmx xNmxxx
  WWWxWx xWWxxx xxxxxx WWWxWx xWWxxx
  xxxxxx xxxxxx xxxxxx xxxxxx xxxxxx
  mDmxmx xNmxxx xxxxxx mNmxmx xNmxxx
  EEExEx xEExxx xxxxxx EEExEx xEExxx
  EEExEx xEExxx xxxxxx EEExEx xEExxx
  EEExEx xEExxx xxxxxx EEExEx xEExxx
  EEExEx xEExxx xxxxxx EEExEx xEExxx
  mDmxmx xNmxxx xxxxxx mNmxmx xNmxxx
  WWWxWx xWWxxx xxxxxx WWWxWx xWWxxx
  xxxxxx xxxxxx xxxxxx xxxxxx xxxxxx
  mDmxmx xNmxxx xxxxxx mNmxmx xNmxxx
  EEExEx xEExxx xxxxxx EEExEx xEExxx
  EEExEx xEExxx xxxxxx EEExEx xEExxx
  EEExEx xEExxx xxxxxx EEExEx xEExxx
  EEExEx xEExxx xxxxxx EEExEx xEExxx`.replace(/\s/g, "");
/** What is meant by m: I the instance's role, R and F the container endpoint at the relative and the full URI. */
const agents = "IxRRFFRR";

/** Every combination, with the access key that is used; undefined where there is none to be had. */
export function credentialMatrix(): readonly { readonly environment: Environment; readonly keyId: string | undefined }[] {
  const environments = dimensions.reduce<Environment[]>(
    (all, choices) => all.flatMap((environment) => choices.map((choice) => ({ ...environment, ...choice }))),
    [{ AWS_REGION: "us-east-1", AWS_EC2_METADATA_SERVICE_ENDPOINT: matrixAgent }],
  );
  return environments.map((environment, index) => {
    const letter = observed[Math.floor(index / agents.length)];
    const keyId = letter === "m" ? agents[index % agents.length] : letter;
    return { environment, keyId: keyId === "x" ? undefined : keyId };
  });
}

/** What the agents and STS answer to a path: the metadata service, the container endpoint, or a role for a token. */
export function matrixAnswer(path: string): string {
  const keys = (id: string) => JSON.stringify({ Code: "Success", AccessKeyId: id, SecretAccessKey: "s", Token: "t" });
  if (path === "/latest/api/token") return "token";
  if (path.endsWith("/security-credentials/")) return "role";
  if (path.endsWith("/security-credentials/role")) return keys("I");
  if (path === "/relative") return keys("R");
  if (path === "/full") return keys("F");
  return (
    "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>W</AccessKeyId><SecretAccessKey>s" +
    "</SecretAccessKey><SessionToken>t</SessionToken></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
  );
}
