import { type Random, uuid } from "../../runtime/world.ts";

/** Makes the names AWS gives to things. */
export interface Ids {
  /** `i-0abc…`: the prefix, a dash and 17 hexadecimal digits. */
  resource(prefix: string): string;
  hex(length: number): string;
  /** Letters and digits in upper case, as in access keys. */
  upper(length: number): string;
  uuid(): string;
  /** A locally administered hardware address. */
  mac(): string;
  random: Random;
}

/** Ids from this source of chance: the same seed and calls give the same names. */
export function idsFrom(random: Random): Ids {
  const hex = (length: number) =>
    Buffer.from(random.bytes(Math.ceil(length / 2)))
      .toString("hex")
      .slice(0, length);
  return {
    random,
    hex,
    resource: (prefix) => `${prefix}-0${hex(16)}`,
    upper: (length) => Array.from(random.bytes(length), (byte) => UPPER.charAt(byte % UPPER.length)).join(""),
    uuid: () => uuid(random),
    mac: () => ["0e", ...Array.from(random.bytes(5), (byte) => byte.toString(16).padStart(2, "0"))].join(":"),
  };
}

const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
