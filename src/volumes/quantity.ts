/** Sizes as Kubernetes writes them: `10Gi`, `500M`, `1.5Ti`, `1e9`. */
const binary = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] as const;
const decimal = ["", "k", "M", "G", "T", "P", "E"] as const;

/** The bytes of a quantity, rounded up; undefined when the text is none. */
export function bytesOfQuantity(text: string): bigint | undefined {
  const [, whole, fraction = "", suffix = ""] = /^\+?(\d+)(?:\.(\d*))?([A-Za-z]*|[eE][+-]?\d+)$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const unit = unitOf(suffix);
  if (unit === undefined) return undefined;
  const digits = BigInt(whole + fraction);
  const scale = 10n ** BigInt(fraction.length) * unit.below;
  return (digits * unit.times + scale - 1n) / scale;
}

interface Unit {
  readonly times: bigint;
  readonly below: bigint;
}

function unitOf(suffix: string): Unit | undefined {
  const [, exponent] = /^[eE]([+-]?\d+)$/.exec(suffix) ?? [];
  if (exponent !== undefined) {
    const power = 10n ** BigInt(Math.abs(Number(exponent)));
    return Number(exponent) < 0 ? { times: 1n, below: power } : { times: power, below: 1n };
  }
  if (suffix === "m") return { times: 1n, below: 1000n };
  const [power, base] = [binary.indexOf(suffix as "Ki"), 1024n] as const;
  if (power >= 0) return { times: base ** BigInt(power), below: 1n };
  const ten = decimal.indexOf(suffix as "k");
  return ten < 0 ? undefined : { times: 1000n ** BigInt(ten), below: 1n };
}

/** Bytes in the form that Kubernetes gives them: in the largest unit of two's powers that leaves no rest. */
export function quantityOfBytes(bytes: bigint): string {
  let [count, power] = [bytes, 0];
  while (count > 0n && count % 1024n === 0n && power < binary.length - 1) {
    count /= 1024n;
    power++;
  }
  return `${count}${binary[power]}`;
}
