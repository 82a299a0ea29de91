/** Texts that a flag may be given, right and wrong, from a seed. */
import type { Random } from "../../src/runtime/world.ts";

const pieces = [
  ..."0123456789+-._,:;=\"' \n\t[]/\\é%",
  ...["10", "00", "0x", "0b1", "0o7", "1_000", "1e3", "e", "E-", ".5", "5.", "true", "false", "True", "T", "inf", "NaN", "-0"],
  ...["ns", "us", "µs", "ms", "s", "m", "h", "1h", "2m", "3.5s", "d", "valueOf", "constructor", "__proto__", "toString", "hasOwnProperty"],
  ...["9223372036854775807", "9223372036854775808", "2147483647", "2147483648", "3.4e38", "3.5e38", "1e400", "4294967296"],
  ...[
    "10.0.0.1",
    "::1",
    "fd00::1",
    "256.1.1.1",
    "127.0.0.1",
    "::ffff:10.0.0.1",
    "a=b",
    "a=b,c=d",
    '"a,b"',
    '""',
    "Ki",
    "Mi",
    "K",
    "1Ki",
    "*=2",
  ],
  ...["crt,key", "crt,key:a,b", "kube-system", "x.crt", "-1", "--"],
];

/** One text. */
export function flagText(random: Random): string {
  const pick = () => pieces[Math.floor(random.number() * pieces.length)]!;
  return Array.from({ length: Math.floor(random.number() ** 2 * 6) }, pick).join("");
}
