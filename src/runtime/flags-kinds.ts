/** The kinds of values a flag can hold: how each is read, shown and named in `--help`. */
import { isIP } from "node:net";
import type { Kind } from "./flags.ts";
import { csvLine, goDuration, goQuote, parseCsvLine, parseGoBool, parseGoDuration, parseGoFloat, parseGoInt } from "./flags-go.ts";

/** `--x`, `--x=true`, `--x=false`. */
export const bool: Kind<boolean> = { type: "", bare: "true", parse: parseGoBool, print: String };

/** Any text. */
export const string: Kind<string> = { type: "string", parse: (text) => text, print: (value) => value, quoted: true };

/** One of a few words. */
export function oneOf<T extends string>(...choices: readonly T[]): Kind<T> {
  return {
    type: choices.join("|"),
    choices,
    parse(text) {
      const known = choices.find((choice) => choice === text);
      if (known === undefined) throw new SyntaxError(`it must be one of ${choices.join(", ")}`);
      return known;
    },
    print: (value) => value,
  };
}

/** A 32-bit integer. */
export const int32: Kind<number> = { type: "int32", parse: (text) => parseGoInt(text, -(2n ** 31n), 2n ** 31n - 1n), print: String };

/** An integer of 64 bits, of which only those a double holds exactly are of use. */
export const int: Kind<number> = { type: "int", parse: (text) => parseGoInt(text, -(2n ** 63n), 2n ** 63n - 1n), print: String };

/** A number; the largest is that of 32 bits. */
export const float32: Kind<number> = { type: "float32", parse: (text) => parseGoFloat(text, 3.4028234663852886e38), print: String };

/** A number. */
export const float: Kind<number> = { type: "float", parse: (text) => parseGoFloat(text, Number.MAX_VALUE), print: String };

/** Go's durations (`1h2m3.5s`), in milliseconds. */
export const duration: Kind<number> = { type: "duration", parse: parseGoDuration, print: goDuration };

/** A textual IP address; empty stands for none in particular. */
export const ip: Kind<string> = {
  type: "ip",
  parse(text, before) {
    const address = text.trim();
    if (address === "") return before ?? "";
    if (isIP(address) === 0) throw new SyntaxError(`failed to parse IP: ${goQuote(text)}`);
    return address;
  },
  print: (value) => value,
};

/** A CSV list; the first use replaces the default, later uses append. */
export const strings: Kind<readonly string[]> = {
  type: "strings",
  holds: "list",
  parse: (text, before) => [...(before ?? []), ...parseCsvLine(text)],
  print: (value) => `[${csvLine(value)}]`,
};

/** One element a use, commas and all. */
export const stringArray: Kind<readonly string[]> = {
  type: "stringArray",
  holds: "list",
  parse: (text, before) => [...(before ?? []), text],
  print: (value) => `[${csvLine(value)}]`,
};

/** Comma-separated 32-bit integers; later uses append. */
export const int32s: Kind<readonly number[]> = {
  type: "int32Slice",
  holds: "list",
  parse: (text, before) => [...(before ?? []), ...text.split(",").map((item) => int32.parse(item, undefined))],
  print: (value) => `[${value.join(",")}]`,
};

/** `k=v,k2=v2`; later uses merge. */
export const stringToString: Kind<Readonly<Record<string, string>>> = {
  type: "stringToString",
  holds: "map",
  parse(text, before) {
    // As in pflag, quotes mean something only where there is more than one pair.
    const items = text.split("=").length === 2 ? [text.replace(/^"+|"+$/g, "")] : parseCsvLine(text);
    if (items.length === 0 || !text.includes("=")) throw new SyntaxError(`${text} must be formatted as key=value`);
    const pairs = items.map((item): [string, string] => {
      const equals = item.indexOf("=");
      if (equals < 0) throw new SyntaxError(`${item} must be formatted as key=value`);
      return [item.slice(0, equals), item.slice(equals + 1)];
    });
    return { ...before, ...Object.fromEntries(pairs) };
  },
  print: (value) => `[${csvLine(Object.entries(value).map(([key, item]) => `${key}=${item}`))}]`,
};

/** klog's verbosity. */
export const level: Kind<number> = {
  type: "Level",
  parse: (text) => parseGoInt(text, 0n, 2n ** 32n - 1n, "ParseUint", 10),
  print: String,
};

/** klog's verbosity by source file. */
export const vmodule: Kind<Readonly<Record<string, number>>> = {
  type: "pattern=N,...",
  holds: "map",
  parse(text) {
    const pairs: [string, number][] = [];
    for (const item of text.split(",")) {
      if (item === "") continue;
      const [pattern, number, ...more] = item.split("=");
      if (!pattern || !number || more.length > 0) throw new SyntaxError(`${goQuote(item)} does not have the pattern=N format`);
      try {
        const value = parseGoInt(number, 0n, 2n ** 31n - 1n, "ParseUint", 10);
        if (value > 0) pairs.push([pattern, value]);
      } catch (cause) {
        throw new SyntaxError(`parsing verbosity in ${goQuote(item)}: ${(cause as Error).message}`, { cause });
      }
    }
    return Object.fromEntries(pairs);
  },
  print: (value) =>
    Object.entries(value)
      .map(([pattern, number]) => `${pattern}=${number}`)
      .join(","),
};

/** A size in bytes, as Kubernetes writes quantities: `512`, `1K`, `2Ki`, `5Mi`. */
export const quantity: Kind<number> = {
  type: "quantity",
  parse(text) {
    const match = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/.exec(text);
    const number = Number(match?.[1]);
    const suffix = match?.[2] ?? "-";
    const scale = Object.hasOwn(quantityScales, suffix) ? quantityScales[suffix] : undefined;
    if (!match || !Number.isFinite(number) || scale === undefined) {
      throw new SyntaxError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    }
    return number * scale + 0;
  },
  print: String,
};

const quantityScales: Readonly<Record<string, number>> = {
  "": 1,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** A certificate for some host names. */
export interface NamedCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** Empty: the names are taken from the certificate. */
  readonly names: readonly string[];
}

/** `crt,key[:domain,domain…]`, repeatable. */
export const namedCertificates: Kind<readonly NamedCertificate[]> = {
  type: "namedCertKey",
  holds: "list",
  parse(text, before) {
    const colon = text.lastIndexOf(":");
    const [files, domains] = colon < 0 ? [text, ""] : [text.slice(0, colon), text.slice(colon + 1)];
    const [certFile, keyFile, ...more] = files.split(",");
    if (!certFile || !keyFile || more.length > 0) throw new SyntaxError("expected comma separated certificate and key file paths");
    const names = domains.split(",").filter((name) => name !== "");
    return [...(before ?? []), { certFile, keyFile, names }];
  },
  print: (value) => `[${value.map(printCertificate).join(";")}]`,
};

function printCertificate({ certFile, keyFile, names }: NamedCertificate): string {
  return `${certFile},${keyFile}${names.length > 0 ? `:${names.join(",")}` : ""}`;
}
