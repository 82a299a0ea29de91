/** Texts that others replace while we run: tokens, certificates and their keys, authorities. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { World } from "../../runtime/world.ts";
import { codeOf, KubeConfigError } from "./access.ts";

/** Where a text comes from; `use` says what it is for: `users["u"].user.tokenFile of kubeconfig /etc/k`. */
export type Source = { readonly use: string } & ({ readonly given: string } | { readonly path: string });

/** What is wrong with texts that were read, by what they are for; undefined when they can be used. */
export type Objection = (texts: readonly string[], uses: readonly string[]) => string | undefined;

/** Replaced files are seen within this time: kubelet replaces a projected token long before the old one ends. */
const rereadAfterMs = 60_000;
/** While what stands in the files cannot be used: somebody is in the middle of replacing them. */
const rereadSoonMs = 1_000;

/**
 * Texts that belong together, read again once a minute and at once after `forget`. They are used together or not at all:
 * when what is read is missing, empty or does not fit, the last that did is kept.
 */
export class Rotated {
  readonly #world: World;
  readonly #sources: readonly Source[];
  readonly #objection: Objection;
  #good: readonly string[] | undefined;
  #concern: string | undefined;
  #rereadAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<readonly string[]> | undefined;

  constructor(world: World, sources: readonly Source[], objection: Objection) {
    this.#world = world;
    this.#sources = sources;
    this.#objection = objection;
  }

  /** The last texts that can be used; rejects with `KubeConfigError` while there were none. */
  async read(): Promise<readonly string[]> {
    if (this.#good !== undefined && this.#world.clock.monotonic() < this.#rereadAt) return this.#good;
    this.#reading ??= this.#readAnew();
    return this.#reading;
  }

  /** The first of them. */
  async text(): Promise<string> {
    return (await this.read())[0]!;
  }

  /** Why what stands in the files now is not used. */
  get concern(): string | undefined {
    return this.#concern;
  }

  forget(): void {
    this.#rereadAt = Number.NEGATIVE_INFINITY;
    this.#reading = undefined;
  }

  #readAnew(): Promise<readonly string[]> {
    const reading: Promise<readonly string[]> = Promise.all(this.#sources.map((source) => this.#textOf(source)))
      .then((texts) => {
        const objection = this.#holds(texts) ? undefined : this.#objection(texts, this.#uses());
        if (objection !== undefined) throw new KubeConfigError(objection);
        return texts;
      })
      .then(
        (texts) => this.#settle(reading, texts, undefined),
        (error: unknown) => this.#settle(reading, this.#good, error),
      );
    return reading;
  }

  #settle(reading: Promise<readonly string[]>, texts: readonly string[] | undefined, error: unknown): readonly string[] {
    const isLatest = this.#reading === reading;
    if (isLatest) this.#reading = undefined;
    if (texts === undefined) throw error;
    if (!isLatest) return texts;
    if (!this.#holds(texts)) this.#good = texts;
    this.#concern = error instanceof Error ? error.message : undefined;
    this.#rereadAt = this.#world.clock.monotonic() + (error === undefined ? rereadAfterMs : rereadSoonMs);
    return this.#good!;
  }

  #holds(texts: readonly string[]): boolean {
    return this.#good?.every((text, index) => text === texts[index]) ?? false;
  }

  #uses(): readonly string[] {
    return this.#sources.map((source) => ("path" in source ? `${source.path} (${source.use})` : source.use));
  }

  async #textOf(source: Source): Promise<string> {
    if ("given" in source) return source.given;
    try {
      return Buffer.from(await this.#world.files.read(source.path)).toString("utf8");
    } catch (cause) {
      const message = `cannot read ${source.path}, named by ${source.use}: ${codeOf(cause)}; check the path and its permissions`;
      throw new KubeConfigError(message, { cause });
    }
  }
}

/** A token in a file that is being written may be empty for a moment; sent, it would make us anonymous. */
export const tokenObjection: Objection = ([token = ""], [use]) => (token.trim() === "" ? `${use} is empty` : undefined);

/** Of a bundle that is being written the end may be missing. */
export const authorityObjection: Objection = ([bundle = ""], [use]) =>
  certificateOf(bundle) === undefined || count(bundle, "-----BEGIN ") !== count(bundle, "-----END ")
    ? `${use} holds no whole PEM certificate`
    : undefined;

/** A certificate is of use with its own key only: with another, no connection can be made at all. */
export const pairObjection: Objection = ([certificate = "", key = ""], [certificateUse, keyUse]) => {
  const parsed = certificateOf(certificate);
  if (parsed === undefined) return `${certificateUse} is not a PEM certificate`;
  const privateKey = keyOf(key);
  if (privateKey === undefined) return `${keyUse} is not a PEM private key`;
  return parsed.checkPrivateKey(privateKey) ? undefined : `${certificateUse} and ${keyUse} do not belong together`;
};

// The errors of both are not passed on: they may quote what they could not read.
function certificateOf(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function keyOf(pem: string) {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}
