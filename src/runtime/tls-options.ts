/** TLS settings under the names that Go programs use, for OpenSSL. */

export interface TlsChoice {
  /** `VersionTLS12`; TLS 1.2 when left out. */
  readonly minVersion?: string;
  /** Suites of TLS 1.2 and below; those of TLS 1.3 are always on. */
  readonly cipherSuites?: readonly string[];
  /** Numbers of the IANA registry of groups, as Go has them: 29 is X25519. */
  readonly curves?: readonly number[];
}

export interface NodeTlsOptions {
  readonly minVersion: "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";
  readonly ciphers?: string;
  readonly ecdhCurve?: string;
}

/** A TLS setting that does not exist. */
export class InvalidTlsOption extends Error {
  override readonly name = "InvalidTlsOption";
}

/** Go's names of versions. */
export const tlsVersions = {
  VersionTLS10: "TLSv1",
  VersionTLS11: "TLSv1.1",
  VersionTLS12: "TLSv1.2",
  VersionTLS13: "TLSv1.3",
} as const;

/** Go's names of cipher suites and OpenSSL's; the latter are the same for TLS 1.3. */
export const cipherSuites: Readonly<Record<string, string>> = {
  TLS_AES_128_GCM_SHA256: "TLS_AES_128_GCM_SHA256",
  TLS_AES_256_GCM_SHA384: "TLS_AES_256_GCM_SHA384",
  TLS_CHACHA20_POLY1305_SHA256: "TLS_CHACHA20_POLY1305_SHA256",
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: "ECDHE-ECDSA-AES128-SHA",
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: "ECDHE-ECDSA-AES128-SHA256",
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: "ECDHE-ECDSA-AES128-GCM-SHA256",
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: "ECDHE-ECDSA-AES256-SHA",
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: "ECDHE-ECDSA-AES256-GCM-SHA384",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: "ECDHE-ECDSA-RC4-SHA",
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: "ECDHE-RSA-DES-CBC3-SHA",
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: "ECDHE-RSA-AES128-SHA",
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: "ECDHE-RSA-AES128-SHA256",
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: "ECDHE-RSA-AES128-GCM-SHA256",
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: "ECDHE-RSA-AES256-SHA",
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: "ECDHE-RSA-AES256-GCM-SHA384",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: "ECDHE-RSA-CHACHA20-POLY1305",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-RSA-CHACHA20-POLY1305",
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: "ECDHE-RSA-RC4-SHA",
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: "DES-CBC3-SHA",
  TLS_RSA_WITH_AES_128_CBC_SHA: "AES128-SHA",
  TLS_RSA_WITH_AES_128_CBC_SHA256: "AES128-SHA256",
  TLS_RSA_WITH_AES_128_GCM_SHA256: "AES128-GCM-SHA256",
  TLS_RSA_WITH_AES_256_CBC_SHA: "AES256-SHA",
  TLS_RSA_WITH_AES_256_GCM_SHA384: "AES256-GCM-SHA384",
  TLS_RSA_WITH_RC4_128_SHA: "RC4-SHA",
};

/** Go's numbers of key-exchange groups and OpenSSL's names. */
export const curves: Readonly<Record<number, string>> = {
  23: "prime256v1",
  24: "secp384r1",
  25: "secp521r1",
  29: "X25519",
  4587: "SecP256r1MLKEM768",
  4588: "X25519MLKEM768",
  4589: "SecP384r1MLKEM1024",
};

const always = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

/** The settings for Node; throws `InvalidTlsOption` in the reference's words. */
export function nodeTlsOptions(choice: TlsChoice): NodeTlsOptions {
  const { minVersion = "VersionTLS12" } = choice;
  const version = Object.hasOwn(tlsVersions, minVersion) ? tlsVersions[minVersion as keyof typeof tlsVersions] : undefined;
  if (version === undefined) throw new InvalidTlsOption(`unknown tls version ${JSON.stringify(minVersion)}`);
  const suites = (choice.cipherSuites ?? []).map((name) => {
    if (!Object.hasOwn(cipherSuites, name)) throw new InvalidTlsOption(`Cipher suite ${name} not supported or doesn't exist`);
    return cipherSuites[name]!;
  });
  const groups = (choice.curves ?? []).map((id) => {
    const group = curves[id];
    if (group === undefined)
      throw new InvalidTlsOption(`curve preference ${id} is not supported (known: ${Object.keys(curves).join(", ")})`);
    return group;
  });
  return {
    minVersion: version,
    ...(suites.length > 0 && { ciphers: [...new Set([...always, ...suites])].join(":") }),
    ...(groups.length > 0 && { ecdhCurve: groups.join(":") }),
  };
}
