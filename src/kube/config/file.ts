/** Kubeconfig files made into something to connect with. */
import type { TlsOptions } from "../../runtime/http.ts";
import type { World } from "../../runtime/world.ts";
import type { Access, KubeConfig } from "./access.ts";
import type { ExecCluster, PluginCredential } from "./exec-plugin.ts";
import { execPlugin, runProgram } from "./exec-plugin.ts";
import type { ChosenContext, KubeconfigFiles, Located, UserEntry } from "./kubeconfig.ts";
import { readKubeconfig, wrong } from "./kubeconfig.ts";
import type { KubeConfigOptions } from "./load.ts";
import type { Source } from "./rotated.ts";
import { authorityObjection, pairObjection, Rotated, tokenObjection } from "./rotated.ts";
import { serverUrl } from "./server-url.ts";

/** The configuration of the context in use; undefined when the files hold nothing and may be missing. */
export async function configFromFiles(world: World, files: KubeconfigFiles, options: KubeConfigOptions): Promise<KubeConfig | undefined> {
  const chosen = await readKubeconfig(world, files, options.context);
  return chosen && (await configOf(world, chosen, options));
}

async function configOf(world: World, chosen: ChosenContext, options: KubeConfigOptions): Promise<KubeConfig> {
  refuseWhatIsNotSupported(chosen);
  const { entry: cluster, path: clusterPath, key: clusterKey } = chosen.cluster;
  const address = options.master || cluster.server;
  if (!address) throw wrong(clusterPath, `${clusterKey}.server`, "is not set; add it or pass --master");

  const insecure = cluster["insecure-skip-tls-verify"] === true;
  const authorities = pem(
    clusterPath,
    `${clusterKey}.certificate-authority`,
    cluster["certificate-authority-data"],
    cluster["certificate-authority"],
  );
  const authority = authorities && new Rotated(world, [authorities], authorityObjection);
  if (insecure && authority)
    throw wrong(clusterPath, clusterKey, "has both a certificate authority and insecure-skip-tls-verify; remove one");
  const pair = pairOf(world, chosen.user);
  const server = serverUrl(
    address,
    Boolean(authority || pair || insecure),
    options.master ? "--master" : `kubeconfig ${clusterPath}: ${clusterKey}.server`,
  );

  const bearer = bearerOf(world, chosen.user);
  const clusterForPlugin: ExecCluster = {
    server: server.href.replace(/\/$/, ""),
    "tls-server-name": cluster["tls-server-name"],
    "insecure-skip-tls-verify": cluster["insecure-skip-tls-verify"],
    "certificate-authority-data": authority ? Buffer.from(await authority.text()).toString("base64") : undefined,
    config: cluster.extensions?.find(({ name }) => name === "client.authentication.k8s.io/exec")?.extension,
  };
  const { exec } = chosen.user.entry;
  const plugin =
    exec && !bearer && !pair
      ? execPlugin(world, exec, `kubeconfig ${chosen.user.path}: ${chosen.user.key}.exec`, clusterForPlugin, options.run ?? runProgram)
      : undefined;

  const access = async (signal: AbortSignal): Promise<Access> => {
    const granted: PluginCredential = plugin ? await plugin.get(signal) : {};
    const token = granted.token ?? (await bearer?.text())?.trim();
    const [certificate, key] = granted.certificate ? [granted.certificate, granted.key] : ((await pair?.read()) ?? []);
    const tls: TlsOptions = { ca: await authority?.text(), cert: certificate, key, serverName: cluster["tls-server-name"], insecure };
    return { headers: token ? { authorization: `Bearer ${token}` } : {}, tls, credential: granted };
  };
  const rotated = [authority, pair, bearer];
  // Files named here are read once now, so that a wrong path is told at the start and not in the middle of the work.
  await Promise.all(rotated.map((texts) => texts?.read()));
  return {
    server,
    origin: `kubeconfig ${chosen.origin}, context ${chosen.context}`,
    namespace: chosen.namespace,
    fromFile: true,
    access,
    refused({ credential }) {
      plugin?.forget(credential);
      bearer?.forget();
      pair?.forget();
    },
    tlsFailed() {
      authority?.forget();
      pair?.forget();
    },
    get concern() {
      return rotated.find((texts) => texts?.concern)?.concern;
    },
  };
}

function bearerOf(world: World, { path, key: userKey, entry: user }: Located<UserEntry>): Rotated | undefined {
  const { token, tokenFile } = user;
  if (tokenFile) return new Rotated(world, [{ path: tokenFile, use: `${userKey}.tokenFile of kubeconfig ${path}` }], tokenObjection);
  return token ? new Rotated(world, [{ given: token, use: `${userKey}.token of kubeconfig ${path}` }], tokenObjection) : undefined;
}

function pairOf(world: World, { path, key: userKey, entry: user }: Located<UserEntry>): Rotated | undefined {
  const certificate = pem(path, `${userKey}.client-certificate`, user["client-certificate-data"], user["client-certificate"]);
  const key = pem(path, `${userKey}.client-key`, user["client-key-data"], user["client-key"]);
  if (certificate && key) return new Rotated(world, [certificate, key], pairObjection);
  if (certificate || key) throw wrong(path, userKey, "needs client-certificate and client-key together");
  return undefined;
}

/** Left unsaid, each of these would make us somebody else than the file says. */
const unsupportedOfUser: readonly { readonly key: keyof UserEntry; readonly why: string }[] = [
  { key: "username", why: "is not supported: Kubernetes dropped basic authentication in 1.19; use a token, a client certificate or exec" },
  { key: "password", why: "is not supported: Kubernetes dropped basic authentication in 1.19; use a token, a client certificate or exec" },
  { key: "auth-provider", why: "is not supported: clients dropped auth-provider in 1.26; use exec" },
  { key: "as", why: "is not supported: grant what is needed to the identity itself instead of impersonating" },
];

function refuseWhatIsNotSupported({ cluster, user }: ChosenContext): void {
  if (cluster.entry["proxy-url"]) {
    throw wrong(cluster.path, `${cluster.key}.proxy-url`, "is not supported; remove it and reach the API server directly");
  }
  for (const { key, why } of unsupportedOfUser) {
    const value = user.entry[key];
    if (value !== undefined && value !== "") throw wrong(user.path, `${user.key}.${key}`, why);
  }
}

function pem(path: string, key: string, data: string | undefined, file: string | undefined): Source | undefined {
  if (!data) return file ? { path: file, use: `${key} of kubeconfig ${path}` } : undefined;
  const text = Buffer.from(data, "base64").toString("utf8");
  if (!text.includes("-----BEGIN ")) throw wrong(path, `${key}-data`, "is not a base64-encoded PEM file");
  return { given: text, use: `${key}-data of kubeconfig ${path}` };
}
