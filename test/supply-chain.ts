/**
 * What may come into the product from others: packages of the npm registry, pinned by the lock file and its hashes, under
 * licences of the list below, none of whose scripts is run at the installation. Held by supply-chain.test.ts.
 */

/** Licences under which parts may be shipped, or used to build. */
export const allowedLicences: readonly string[] = [
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
];

/** Packages that bring an install script, and why they work without it: .npmrc forbids to run any. */
export const scriptsNotNeeded: Readonly<Record<string, string>> = {
  esbuild: "it only replaces a launcher by the program, to save milliseconds",
  protobufjs: "it only warns of version ranges",
};

/** The parts of package-lock.json that are looked at. */
export interface LockFile {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Sources {
  readonly lock: LockFile;
  readonly manifest: Pick<LockedPackage, "dependencies" | "devDependencies" | "optionalDependencies">;
  readonly npmrc: string;
  readonly changelog: string;
}

/** Every objection, as a sentence that names what to do. */
export function objections({ lock, manifest, npmrc, changelog }: Sources): string[] {
  const locked = Object.entries(lock.packages).filter(([path]) => path !== "");
  return [
    ...(/^ignore-scripts=true$/m.test(npmrc)
      ? []
      : [".npmrc does not say ignore-scripts=true: a package's script could run at the installation"]),
    ...locked.flatMap(([path, entry]) => lockedObjections(path.replace(/^.*node_modules\//, ""), entry)),
    ...missingObjections(lock.packages),
    ...directObjections(lock.packages[""] ?? {}, manifest, changelog),
  ];
}

function lockedObjections(name: string, entry: LockedPackage): string[] {
  const { version, resolved, integrity, license = "none", hasInstallScript, link } = entry;
  const found: string[] = [];
  if (link || !integrity?.startsWith("sha512-"))
    found.push(`${name}: the lock file has no sha512 of it, so that anything could be installed in its place`);
  if (resolved !== undefined && !/^https:\/\/registry\.npmjs\.org\//.test(resolved))
    found.push(`${name}: comes from ${resolved}, not from the npm registry`);
  if (!isAllowed(license)) found.push(`${name} ${version}: licence ${license} is none of ${allowedLicences.join(", ")}`);
  if (hasInstallScript && !Object.hasOwn(scriptsNotNeeded, name)) {
    found.push(`${name} ${version}: has an install script; find out whether it works without, and name it in test/supply-chain.ts`);
  }
  return found;
}

/** A registry that lacks a package for another platform makes npm leave it out of the lock file, and then `npm ci` refuses the whole. */
function missingObjections(packages: LockFile["packages"]): string[] {
  return Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !isLocked(name, path, packages))
      .map((name) => `${name}: needed by ${path || "package.json"}, and not in the lock file`),
  );
}

/** Looks where Node would: beside the package that asks, then further up. */
function isLocked(name: string, from: string, packages: LockFile["packages"]): boolean {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf("/node_modules/")))) {
    if (Object.hasOwn(packages, `${place}${place === "" ? "" : "/"}node_modules/${name}`)) return true;
    if (place === "") return false;
  }
}

/** Of "A OR B" one is enough, of "A AND B" both are needed. */
function isAllowed(expression: string): boolean {
  const text = expression.replace(/[()]/g, "");
  return text.split(" OR ").some((choice) => choice.split(" AND ").every((licence) => allowedLicences.includes(licence.trim())));
}

/** What package.json asks for: exact versions, the same in the lock file, each known to who reads the changelog. */
function directObjections(locked: LockedPackage, manifest: Sources["manifest"], changelog: string): string[] {
  const kinds = ["dependencies", "devDependencies", "optionalDependencies"] as const;
  return kinds.flatMap((kind) =>
    Object.entries(manifest[kind] ?? {}).flatMap(([name, version]) => {
      const found: string[] = [];
      if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) found.push(`${name}: ${version} is no exact version`);
      if (locked[kind]?.[name] !== version)
        found.push(`${name}: package.json asks for ${version}, the lock file for ${locked[kind]?.[name]}; run npm install`);
      if (!changelog.includes(`\`${name}\``)) found.push(`${name}: new, and not named in CHANGELOG.md`);
      return found;
    }),
  );
}
