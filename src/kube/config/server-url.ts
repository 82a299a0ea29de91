import { KubeConfigError } from "./access.ts";

/** An API server's address as users write it; `origin` says where they wrote it. Without a scheme it depends on whether TLS is set up. */
export function serverUrl(address: string, secured: boolean, origin: string): URL {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `${secured ? "https" : "http"}://${address}`;
  const url = URL.parse(withScheme);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    throw new KubeConfigError(`${origin} is not an http or https URL`);
  }
  if (url.username || url.password) throw new KubeConfigError(`${origin} must not hold a user name or password`);
  return url;
}
