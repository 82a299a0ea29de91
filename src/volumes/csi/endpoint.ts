/** Where the driver listens. */

export type Endpoint = { readonly kind: "unix"; readonly path: string } | { readonly kind: "tcp"; readonly address: string };

/** Reads `unix:///csi/csi.sock`, `unix://csi/csi.sock`, `unix:/csi/csi.sock` (all the same path) and `tcp://host:port/`. */
export function parseEndpoint(text: string): Endpoint {
  const [, scheme = "", rest = ""] = /^([a-zA-Z][\w+.-]*):(.*)$/s.exec(text) ?? [];
  if (scheme === "")
    throw new Error(`could not parse endpoint ${JSON.stringify(text)}: it has no scheme (unix:///path or tcp://host:port)`);
  const address = rest.replace(/^\/\//, "");
  if (scheme === "unix") return { kind: "unix", path: `/${address.replace(/^\/+/, "")}` };
  if (scheme === "tcp") return { kind: "tcp", address: address.replace(/\/+$/, "") };
  throw new Error(`unsupported protocol: ${scheme}`);
}
