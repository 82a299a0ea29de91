/**
 * Chains of client certificates, made and judged by the openssl command: what two verifiers that nobody here wrote say of
 * each. A client is let in when both accept it.
 */
import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export interface Chain {
  readonly what: string;
  /** Extensions, in the words of openssl's configuration; the usual ones when left out. */
  readonly root?: readonly string[];
  readonly intermediates?: readonly (readonly string[])[];
  readonly leaf?: readonly string[];
  /** `/O=system:masters/CN=alice` when left out. */
  readonly subject?: string;
  /** The kind of string in the client's subject, by openssl's mask; UTF-8 when left out. */
  readonly strings?: string;
  /** Which of them is in the bundle of authorities; the root when left out. */
  readonly trusted?: "root" | "intermediate" | "leaf";
  /** Of the signatures. */
  readonly digest?: string;
  /** Days from now on which it is judged. Roots and clients last ten days, intermediates two. */
  readonly day?: number;
  readonly openssl: boolean;
  readonly go: boolean;
}

const ca = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign"];
const client = ["basicConstraints=CA:FALSE", "keyUsage=critical,digitalSignature", "extendedKeyUsage=clientAuth"];
const usage = (...usages: readonly string[]) => `extendedKeyUsage=${usages.join(",")}`;
const both = { openssl: true, go: true };
const neither = { openssl: false, go: false };

/** Every rule of RFC 5280 that a restricted authority could break, and where verifiers differ. */
export const chains: readonly Chain[] = [
  { what: "issued by the root", ...both },
  { what: "issued through an intermediate", intermediates: [ca], ...both },
  { what: "issued through three intermediates", intermediates: [ca, ca, ca], ...both },
  // Extended key usage.
  { what: "for servers", leaf: [usage("serverAuth")], ...neither },
  { what: "for servers and clients", leaf: [usage("serverAuth", "clientAuth")], ...both },
  { what: "for anything", leaf: [usage("anyExtendedKeyUsage")], openssl: false, go: true },
  { what: "without a usage", leaf: ["basicConstraints=CA:FALSE"], ...both },
  { what: "under an intermediate for servers", intermediates: [[...ca, usage("serverAuth")]], ...neither },
  { what: "under an intermediate for clients", intermediates: [[...ca, usage("clientAuth")]], ...both },
  { what: "under an intermediate for anything", intermediates: [[...ca, usage("anyExtendedKeyUsage")]], openssl: false, go: true },
  { what: "under an intermediate for code", intermediates: [[...ca, usage("codeSigning")]], ...neither },
  { what: "without a usage, under an intermediate for servers", intermediates: [[...ca, usage("serverAuth")]], leaf: [], ...neither },
  { what: "two below an intermediate for servers", intermediates: [[...ca, usage("serverAuth")], ca], ...neither },
  { what: "under a root for servers", root: [...ca, usage("serverAuth")], ...neither },
  // Key usage.
  { what: "for encryption only", leaf: ["keyUsage=critical,keyEncipherment", usage("clientAuth")], openssl: false, go: true },
  {
    what: "under an intermediate that may not sign",
    intermediates: [["basicConstraints=critical,CA:TRUE", "keyUsage=critical,digitalSignature"]],
    ...neither,
  },
  // Basic constraints.
  { what: "under an intermediate that is none", intermediates: [client], ...neither },
  { what: "under an intermediate that does not say", intermediates: [["keyUsage=critical,keyCertSign"]], ...neither },
  { what: "under a root with room", root: ["basicConstraints=critical,CA:TRUE,pathlen:1"], intermediates: [ca], ...both },
  { what: "under a root without room", root: ["basicConstraints=critical,CA:TRUE,pathlen:0"], intermediates: [ca], ...neither },
  { what: "under an intermediate without room", intermediates: [["basicConstraints=critical,CA:TRUE,pathlen:0"], ca], ...neither },
  { what: "directly under an intermediate without room", intermediates: [["basicConstraints=critical,CA:TRUE,pathlen:0"]], ...both },
  // Name constraints.
  {
    what: "outside of the intermediate's directory",
    intermediates: [[...ca, "nameConstraints=permitted;dirName:team"]],
    openssl: false,
    go: true,
  },
  {
    what: "inside of the intermediate's directory",
    intermediates: [[...ca, "nameConstraints=permitted;dirName:team"]],
    subject: "/O=team/CN=alice",
    ...both,
  },
  {
    what: "inside of a critical directory",
    intermediates: [[...ca, "nameConstraints=critical,permitted;dirName:team"]],
    subject: "/O=team/CN=alice",
    openssl: true,
    go: false,
  },
  { what: "outside of a critical directory", intermediates: [[...ca, "nameConstraints=critical,permitted;dirName:team"]], ...neither },
  {
    what: "inside of an excluded directory",
    intermediates: [[...ca, "nameConstraints=excluded;dirName:team"]],
    subject: "/O=TEAM/CN=alice",
    openssl: false,
    go: true,
  },
  {
    what: "inside of an excluded directory in another kind of string",
    intermediates: [[...ca, "nameConstraints=excluded;dirName:accented"]],
    subject: "/O=équipe/CN=alice",
    // T61String.
    strings: "MASK:4",
    openssl: false,
    go: true,
  },
  { what: "two below a directory", intermediates: [[...ca, "nameConstraints=permitted;dirName:team"], ca], openssl: false, go: true },
  {
    what: "with a host outside",
    intermediates: [[...ca, "nameConstraints=critical,permitted;DNS:example.com"]],
    leaf: [...client, "subjectAltName=DNS:other.com"],
    ...neither,
  },
  {
    what: "with a host inside",
    intermediates: [[...ca, "nameConstraints=critical,permitted;DNS:example.com"]],
    leaf: [...client, "subjectAltName=DNS:a.example.com"],
    ...both,
  },
  {
    what: "with a host that ends alike",
    intermediates: [[...ca, "nameConstraints=critical,permitted;DNS:example.com"]],
    leaf: [...client, "subjectAltName=DNS:anexample.com"],
    ...neither,
  },
  {
    what: "with an excluded host",
    intermediates: [[...ca, "nameConstraints=critical,excluded;DNS:example.com"]],
    leaf: [...client, "subjectAltName=DNS:A.Example.com"],
    ...neither,
  },
  {
    what: "with a host as common name",
    intermediates: [[...ca, "nameConstraints=critical,permitted;DNS:example.com"]],
    subject: "/CN=other.com",
    openssl: false,
    go: true,
  },
  {
    what: "without a host under a constraint on hosts",
    intermediates: [[...ca, "nameConstraints=critical,permitted;DNS:example.com"]],
    ...both,
  },
  {
    what: "with an address outside",
    intermediates: [[...ca, "nameConstraints=critical,permitted;IP:10.0.0.0/255.0.0.0"]],
    leaf: [...client, "subjectAltName=IP:11.0.0.1"],
    ...neither,
  },
  {
    what: "with an address inside",
    intermediates: [[...ca, "nameConstraints=critical,permitted;IP:10.0.0.0/255.0.0.0"]],
    leaf: [...client, "subjectAltName=IP:10.1.2.3"],
    ...both,
  },
  {
    what: "with an address of the other family",
    intermediates: [[...ca, "nameConstraints=critical,permitted;IP:10.0.0.0/255.0.0.0"]],
    leaf: [...client, "subjectAltName=IP:fd00::1"],
    ...neither,
  },
  {
    what: "with mail inside",
    intermediates: [[...ca, "nameConstraints=critical,permitted;email:example.com"]],
    leaf: [...client, "subjectAltName=email:alice@example.com"],
    ...both,
  },
  {
    what: "with mail outside",
    intermediates: [[...ca, "nameConstraints=critical,permitted;email:.example.com"]],
    leaf: [...client, "subjectAltName=email:alice@example.com"],
    ...neither,
  },
  {
    what: "with a URI inside",
    intermediates: [[...ca, "nameConstraints=critical,permitted;URI:.example.com"]],
    leaf: [...client, "subjectAltName=URI:spiffe://a.example.com/x"],
    ...both,
  },
  {
    what: "with a URI below a host",
    intermediates: [[...ca, "nameConstraints=critical,permitted;URI:example.com"]],
    leaf: [...client, "subjectAltName=URI:spiffe://a.example.com/x"],
    openssl: false,
    go: true,
  },
  {
    what: "with a URI outside",
    intermediates: [[...ca, "nameConstraints=critical,permitted;URI:example.com"]],
    leaf: [...client, "subjectAltName=URI:spiffe://other.com/x"],
    ...neither,
  },
  {
    what: "with a host outside of the root's constraint",
    root: [...ca, "nameConstraints=critical,permitted;DNS:example.com"],
    leaf: [...client, "subjectAltName=DNS:other.com"],
    ...neither,
  },
  // Extensions that nobody knows.
  { what: "with an unknown critical extension", leaf: [...client, "1.2.3.4=critical,ASN1:UTF8:x"], ...neither },
  { what: "with an unknown extension", leaf: [...client, "1.2.3.4=ASN1:UTF8:x"], ...both },
  { what: "under an unknown critical extension", intermediates: [[...ca, "1.2.3.4=critical,ASN1:UTF8:x"]], ...neither },
  // Dates, signatures, anchors.
  { what: "under an intermediate that has run out", intermediates: [ca], day: 5, ...neither },
  { what: "all run out", day: 20, ...neither },
  { what: "signed with SHA-1", digest: "sha1", openssl: true, go: false },
  { what: "with the intermediate as authority", intermediates: [ca], trusted: "intermediate", ...both },
  {
    what: "with an intermediate for servers as authority",
    intermediates: [[...ca, usage("serverAuth")]],
    trusted: "intermediate",
    ...neither,
  },
  { what: "an authority itself", trusted: "leaf", ...both },
];

/** The files of one chain, and their contents in PEM. */
export interface MadeChain {
  readonly authorities: string;
  /** What the client sends: its own certificate and the intermediates. */
  readonly sent: string;
  readonly key: string;
  readonly authoritiesFile: string;
  readonly leafFile: string;
  readonly intermediatesFile?: string;
}

/** Makes the certificates of each chain in a folder of its own. */
export async function makeChains(folder: string, chains: readonly Chain[]): Promise<MadeChain[]> {
  const plans = await Promise.all(chains.map((chain, at) => planChain(join(folder, String(at)), chain)));
  for (const { status, output } of await openssl(plans.flatMap(({ commands }) => commands))) if (status !== 0) throw new Error(output);
  return Promise.all(plans.map(({ made }) => made()));
}

type Command = readonly string[];

/** What makes the certificates of a chain, and how they are read once it has. */
async function planChain(folder: string, chain: Chain): Promise<{ commands: readonly Command[]; made: () => Promise<MadeChain> }> {
  await mkdir(folder, { recursive: true });
  const path = (name: string) => join(folder, name);
  const commands: Command[] = [];
  const issue = async (name: string, subject: string, extensions: readonly string[], days: number, issuer: string | undefined) => {
    const strings = name === "leaf" && chain.strings !== undefined ? [`string_mask=${chain.strings}`] : [];
    const names = ["[dn]", "[team]", "O=team", "[accented]", "O=équipe"];
    const lines = ["[req]", "distinguished_name=dn", ...strings, ...names, "[ext]", ...extensions];
    await writeFile(path(`${name}.cnf`), `${lines.join("\n")}\n`);
    const signer = issuer === undefined ? [] : ["-CA", path(`${issuer}.crt`), "-CAkey", path(`${issuer}.key`)];
    commands.push([
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", String(days), "-subj", subject],
      ...["-config", path(`${name}.cnf`), "-extensions", "ext", "-keyout", path(`${name}.key`), "-out", path(`${name}.crt`)],
      ...[`-${chain.digest ?? "sha256"}`, ...signer],
    ]);
    return name;
  };
  const intermediates: string[] = [];
  const root = await issue("root", "/CN=root", chain.root ?? ca, 10, undefined);
  for (const [at, extensions] of (chain.intermediates ?? []).entries())
    intermediates.push(await issue(`intermediate-${at}`, `/O=team/CN=intermediate-${at}`, extensions, 2, intermediates.at(-1) ?? root));
  const subject = chain.subject ?? "/O=system:masters/CN=alice";
  const leaf = await issue("leaf", subject, chain.leaf ?? client, 10, intermediates.at(-1) ?? root);
  const trusted = { root, intermediate: intermediates[0]!, leaf }[chain.trusted ?? "root"];
  return {
    commands,
    made: async () => {
      const certificate = (name: string) => readFile(path(`${name}.crt`), "utf8");
      const above = await Promise.all(intermediates.map(certificate));
      await writeFile(path("intermediates.pem"), above.join(""));
      return {
        authorities: await certificate(trusted),
        sent: [await certificate(leaf), ...above.toReversed()].join(""),
        key: await readFile(path("leaf.key"), "utf8"),
        authoritiesFile: path(`${trusted}.crt`),
        leafFile: path("leaf.crt"),
        ...(above.length > 0 && { intermediatesFile: path("intermediates.pem") }),
      };
    },
  };
}

/** Whether `openssl verify` accepts the chain of each client at its time. Authorities are believed whether they are roots or not. */
export async function acceptedByOpenssl(clients: readonly { readonly made: MadeChain; readonly atMs: number }[]): Promise<boolean[]> {
  const commands = clients.map(({ made: { authoritiesFile, intermediatesFile, leafFile }, atMs }) => [
    ...["verify", "-purpose", "sslclient", "-partial_chain", "-attime", String(Math.floor(atMs / 1000)), "-no-CApath", "-no-CAstore"],
    ...["-CAfile", authoritiesFile, ...(intermediatesFile === undefined ? [] : ["-untrusted", intermediatesFile]), leafFile],
  ]);
  return (await openssl(commands)).map(({ status, output }) => {
    if (status !== 0 && status !== 2) throw new Error(output);
    return status === 0;
  });
}

/** Runs openssl with each of these arguments, all in one shell: to fork a process as large as that of the unit tests takes longer than openssl. */
async function openssl(commands: readonly Command[]): Promise<{ status: number; output: string }[]> {
  const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
  const shell = spawn("sh", ["-s"], { stdio: ["pipe", "pipe", "inherit"] });
  shell.stdin.end(commands.map((words) => `openssl ${words.map(quoted).join(" ")} 2>&1; echo "status $?"\n`).join(""));
  const lines = (await text(shell.stdout)).split(/^status /m);
  const statuses = lines.slice(1).map((line) => Number.parseInt(line, 10));
  if (statuses.length !== commands.length) throw new Error(`${commands.length} times openssl: ${statuses.length} statuses`);
  return statuses.map((status, at) => ({ status, output: lines[at]!.replace(/^\d+\n/, "") }));
}
