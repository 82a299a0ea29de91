/**
 * Which host an image name points at.
 *
 * Kubelet's other half reads image names as Go reads URLs, so this does too. The WHATWG `URL` class will not do: it
 * lower-cases hosts, turns them into punycode, drops tabs, rewrites IPv4 and hides port 443, and any of these would make
 * the key of our answer differ from what kubelet looks up.
 */
export interface ImageHost {
  /** Without port and brackets, in the letter case of the image; empty when the name has none. */
  readonly host: string;
  /** `host[:port]` exactly as kubelet looks it up in the answer. */
  readonly key: string;
}

/** The image name cannot be read as one. */
export class ImageUnreadable extends Error {
  override readonly name = "ImageUnreadable";
}

/** The host of an image name, with or without scheme, port, path, tag and digest. Throws `ImageUnreadable`. */
export function imageHost(image: string): ImageHost {
  const url = image.includes("://") ? image : `https://${image}`;
  const hash = url.indexOf("#");
  const main = hash < 0 ? url : url.slice(0, hash);
  const unreadable = (parsed: string, reason: string) =>
    new ImageUnreadable(`error parsing image reference ${url}: parse ${JSON.stringify(parsed)}: ${reason}`);
  try {
    const found = hostOfUrl(main);
    try {
      unescaped(hash < 0 ? "" : url.slice(hash + 1), "path");
    } catch (error) {
      throw error instanceof Fault ? unreadable(url, error.message) : error;
    }
    return found;
  } catch (error) {
    throw error instanceof Fault ? unreadable(main, error.message) : error;
  }
}

/** A reason the name is refused, before it is put into the whole message. */
class Fault extends Error {}

const none: ImageHost = { host: "", key: "" };

function hostOfUrl(url: string): ImageHost {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\x00-\x1f\x7f]/.test(url)) throw new Fault("net/url: invalid control character in URL");
  if (url.startsWith(":")) throw new Fault("missing protocol scheme");
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*(?=:)/.exec(url)?.[0] ?? "";
  let rest = scheme === "" ? url : url.slice(scheme.length + 1);
  const query = rest.indexOf("?");
  if (query >= 0) rest = rest.slice(0, query);
  if (!rest.startsWith("/")) {
    if (scheme !== "") return none;
    if (rest.split("/", 1)[0]?.includes(":")) throw new Fault("first path segment in URL cannot contain colon");
  }
  if (!rest.startsWith("//") || (scheme === "" && rest.startsWith("///"))) {
    unescaped(rest, "path");
    return none;
  }
  const slash = rest.indexOf("/", 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  const found = hostOfAuthority(authority, /^https?$/i.test(scheme));
  if (slash >= 0) unescaped(rest.slice(slash), "path");
  return found;
}

function hostOfAuthority(authority: string, isWeb: boolean): ImageHost {
  const at = authority.lastIndexOf("@");
  const found = hostAndPort(authority.slice(at + 1), isWeb);
  if (at >= 0) {
    const user = authority.slice(0, at);
    if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new Fault("net/url: invalid userinfo");
    unescaped(user, "path");
  }
  return found;
}

function hostAndPort(text: string, isWeb: boolean): ImageHost {
  const bracket = text.lastIndexOf("[");
  if (bracket > 0) throw new Fault("invalid IP-literal");
  if (bracket === 0) return literalHost(text);
  const colon = isWeb ? text.indexOf(":") : text.lastIndexOf(":");
  if (colon < 0) {
    const host = unescaped(text, "host");
    return { host, key: host };
  }
  checkPort(text.slice(colon));
  return { host: unescaped(text.slice(0, colon), "host"), key: unescaped(text, "host") };
}

function literalHost(text: string): ImageHost {
  const close = text.lastIndexOf("]");
  if (close < 0) throw new Fault("missing ']' in host");
  checkPort(text.slice(close + 1));
  const inside = text.slice(1, close);
  const zone = inside.indexOf("%25");
  const host = zone < 0 ? unescaped(inside, "host") : unescaped(inside.slice(0, zone), "host") + unescaped(inside.slice(zone), "zone");
  const [address = "", ...zoneName] = host.split("%");
  if (!isIPv6(address) || (zoneName.length > 0 && zoneName.join("%") === "")) {
    throw new Fault(`invalid host: ParseAddr(${JSON.stringify(host)}): unable to parse IP`);
  }
  return { host, key: `[${host}]${text.slice(close + 1)}` };
}

/** `node:net` has this, and loading it would cost a tenth of the program's start. */
function isIPv6(text: string): boolean {
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1)!;
  const dotted = last.at(-1)?.includes(".") ? last.pop()! : undefined;
  if (dotted !== undefined && !isIPv4(dotted)) return false;
  const count = groups.flat().length + (dotted === undefined ? 0 : 2);
  return groups.flat().every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group)) && (halves.length === 2 ? count < 8 : count === 8);
}

function isIPv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) < 256);
}

function checkPort(text: string): void {
  if (!/^(:[0-9]*)?$/.test(text)) throw new Fault(`invalid port ${JSON.stringify(text)} after host`);
}

const badInHost = /[ \\^`{|}%/?#@]/;

/** Percent escapes resolved; in a host only `%25` and bytes beyond ASCII may be written so. */
function unescaped(text: string, where: "host" | "zone" | "path"): string {
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!;
    if (character === "%") {
      const sequence = text.slice(index, index + 3);
      if (!/^%[0-9A-Fa-f]{2}$/.test(sequence)) throw new Fault(`invalid URL escape ${JSON.stringify(sequence)}`);
      const byte = Number.parseInt(sequence.slice(1), 16);
      const allowed =
        where === "path" ||
        sequence === "%25" ||
        (where === "host" ? byte >= 0x80 : byte === 0x20 || (byte > 0x20 && byte < 0x7f && !badInHost.test(String.fromCharCode(byte))));
      if (!allowed) throw new Fault(`invalid URL escape ${JSON.stringify(sequence)}`);
      index += 2;
    } else if (where !== "path" && badInHost.test(character)) {
      throw new Fault(`invalid character ${JSON.stringify(character)} in host name`);
    }
  }
  if (where === "path" || !text.includes("%")) return text;
  return Buffer.from(
    Buffer.from(text, "utf8")
      .toString("latin1")
      .replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  ).toString("utf8");
}
