/** Provider IDs: what a Node says about the machine it runs on. */

export type ProviderId =
  | { readonly kind: "instance"; readonly instanceId: string; readonly zone: string | undefined }
  /** `address` is the private address of its network interface, which is all of a Fargate node that AWS shows. */
  | { readonly kind: "fargate"; readonly name: string; readonly address: string; readonly zone: string | undefined }
  /** A machine of another cloud: none of our business. */
  | { readonly kind: "foreign"; readonly scheme: string }
  | { readonly kind: "invalid"; readonly reason: string };

/**
 * Reads a provider ID in any of the forms in use: `aws:///<zone>/<id>`, `aws:////<id>`, `aws://<account>/<zone>/<id>`,
 * `aws:///<zone>/<uuid>/fargate-<name>`, or the bare id. Whether AWS knows the id is not asked here.
 */
export function parseProviderId(text: string): ProviderId {
  const [, scheme, rest] = /^([a-zA-Z][\w+.-]*):\/\/(.*)$/s.exec(text) ?? [];
  if (scheme !== undefined && scheme.toLowerCase() !== "aws") return { kind: "foreign", scheme };
  // What lies between `aws://` and the next slash is the host of a URL, and not part of the path.
  const path = rest === undefined ? text : rest.includes("/") ? rest.slice(rest.indexOf("/")) : "";
  let segments: readonly string[];
  try {
    segments = decodeURIComponent(path.replace(/[?#].*$/s, ""))
      .replace(/^\/+|\/+$/g, "")
      .split("/");
  } catch {
    return { kind: "invalid", reason: `Invalid instance name (${text}): invalid URL escape` };
  }
  const id = segments.at(-1) ?? "";
  const zone = segments.length > 1 && segments[0] !== "" ? segments[0] : undefined;
  if (id.startsWith("i-")) return { kind: "instance", instanceId: id, zone };
  if (id.startsWith("fargate-")) return { kind: "fargate", name: id, address: fargateAddress(id), zone };
  return { kind: "invalid", reason: `Invalid format for AWS instance (${text})` };
}

/** The form we write. */
export function providerIdOf(zone: string, instanceId: string): string {
  return `aws:///${zone}/${instanceId}`;
}

/** The instance id in a resource-based node name: `i-0abc.us-west-2.compute.internal` → `i-0abc`. */
export function instanceIdOfNodeName(nodeName: string): string | undefined {
  return nodeName.startsWith("i-") ? nodeName.split(".", 1)[0] : undefined;
}

/** `fargate-ip-10-0-1-2.us-west-2.compute.internal` and `fargate-10.0.1.2` → `10.0.1.2`. */
function fargateAddress(name: string): string {
  const rest = name.slice("fargate-".length);
  return rest.startsWith("ip-") ? rest.slice("ip-".length).split(".", 1)[0]!.replaceAll("-", ".") : rest;
}
