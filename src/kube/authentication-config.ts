import { configMaps } from "./builtin.ts";
import type { CallOptions, KubeClient } from "./client.ts";
import { isApiError } from "./errors.ts";

/** How the API server's own front proxies and client certificates are to be trusted. */
export interface AuthenticationConfig {
  /** PEM of the authorities that sign client certificates. */
  readonly clientCa: string | undefined;
  readonly requestHeader: RequestHeaderConfig | undefined;
}

export interface RequestHeaderConfig {
  /** PEM of the authorities that sign the front proxies' certificates. */
  readonly ca: string;
  /** Empty: any name. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
  readonly uidHeaders: readonly string[];
}

const namespace = "kube-system";
const name = "extension-apiserver-authentication";

/** What the API server publishes for servers that delegate to it; undefined when the ConfigMap does not exist. */
export async function readAuthenticationConfig(client: KubeClient, options: CallOptions = {}): Promise<AuthenticationConfig | undefined> {
  let data: Readonly<Record<string, string>>;
  try {
    data = (await client.get(configMaps, { namespace, name }, options)).data ?? {};
  } catch (error) {
    if (isApiError(error, "not-found")) return undefined;
    throw error;
  }
  const ca = data["requestheader-client-ca-file"];
  return {
    clientCa: data["client-ca-file"] || undefined,
    requestHeader: ca
      ? {
          ca,
          allowedNames: listIn(data, "requestheader-allowed-names"),
          usernameHeaders: listIn(data, "requestheader-username-headers"),
          groupHeaders: listIn(data, "requestheader-group-headers"),
          extraHeaderPrefixes: listIn(data, "requestheader-extra-headers-prefix"),
          uidHeaders: listIn(data, "requestheader-uid-headers"),
        }
      : undefined,
  };
}

function listIn(data: Readonly<Record<string, string>>, key: string): readonly string[] {
  const list = parsed(data[key] || "[]");
  if (Array.isArray(list) && list.every((item) => typeof item === "string")) return list;
  throw new Error(
    `ConfigMap ${namespace}/${name}: ${key} is not a JSON list of strings; the API server writes it, so check who changed it`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
