/** Whose certificates are trusted, by the rules that Go programs follow. Loads nothing: the credential provider stands on it. */
import type { World } from "./world.ts";

/** A bundle that was named holds no certificate. */
export class TrustInvalid extends Error {
  override readonly name = "TrustInvalid";
}

/** Where Linux distributions keep the certificates they trust: the first bundle there is, and folders of single ones. */
const bundles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/cacert.pem",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/cert.pem",
];
const folders = ["/etc/ssl/certs", "/etc/pki/tls/certs"];

/** The certificates this machine trusts, in PEM: SSL_CERT_FILE, SSL_CERT_DIR, else its own. Undefined when it has none. */
export async function machineRoots(world: World): Promise<string | undefined> {
  const { SSL_CERT_FILE: file, SSL_CERT_DIR: directories } = world.environment;
  const bundle = await firstFile(world, file ? [file] : bundles);
  if (!file && !directories && bundle !== undefined) return bundle;
  const found = new Set(certificatesIn(bundle ?? ""));
  // Go reads the machine's folders beside a file that was named. They hold what the machine's own bundle holds, in hundreds of files.
  const own = file && !directories ? await firstFile(world, bundles) : undefined;
  if (own !== undefined) return [...found.union(new Set(certificatesIn(own)))].join("\n");
  for (const folder of directories ? directories.split(":") : folders) {
    for (const name of await namesIn(world, folder)) {
      for (const certificate of certificatesIn((await firstFile(world, [`${folder}/${name}`])) ?? "")) found.add(certificate);
    }
  }
  return found.size === 0 ? undefined : [...found].join("\n");
}

/** The machine's certificates and those of AWS_CA_BUNDLE: isolated partitions and intercepting proxies need them. */
export async function awsRoots(world: World): Promise<string | undefined> {
  const bundle = world.environment.AWS_CA_BUNDLE;
  const machine = await machineRoots(world);
  if (!bundle) return machine;
  const extra = await firstFile(world, [bundle]);
  if (extra === undefined || !extra.includes("-----BEGIN CERTIFICATE-----")) {
    throw new TrustInvalid(`failed to load custom CA bundle: no certificate can be read from ${bundle} (AWS_CA_BUNDLE)`);
  }
  return machine === undefined ? extra : `${machine}\n${extra}`;
}

function certificatesIn(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
}

async function firstFile(world: World, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    try {
      return Buffer.from(await world.files.read(path)).toString("latin1");
    } catch {
      // The next distribution's place, then.
    }
  }
  return undefined;
}

async function namesIn(world: World, folder: string): Promise<readonly string[]> {
  try {
    return await world.files.list(folder);
  } catch {
    return [];
  }
}
