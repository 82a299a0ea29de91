/** Flags of the HTTPS server, of who may use it, and of what it shows. */
import { type FlagValues, flag } from "../runtime/flags.ts";
import { bool, duration, int, int32s, ip, namedCertificates, string, strings } from "../runtime/flags-kinds.ts";
import { cipherSuites, type TlsChoice, tlsVersions } from "../runtime/tls-options.ts";

const none: readonly string[] = [];

/** Profiles and dumps. */
export const debuggingFlags = {
  profiling: flag(bool, true, "Serve CPU profiles under /debug/pprof/ and the log verbosity under /debug/flags/v, to authorized users."),
  "contention-profiling": flag(bool, false, "Accepted for compatibility; has no effect: there are no locks to profile."),
  "enable-heap-dumps": flag(
    bool,
    false,
    "Serve heap dumps under /debug/pprof/heap as well. A heap dump holds every token and secret of the process: turn it on only to find a leak.",
  ),
};

/** The HTTPS server. */
export const secureServingFlags = {
  "bind-address": flag(
    ip,
    "0.0.0.0",
    "Address to listen on for --secure-port. An unspecified one (0.0.0.0, ::) means all interfaces and both IP families.",
  ),
  "cert-dir": flag(
    string,
    "",
    "Directory of cloud-controller-manager.crt and .key, which are made there when missing. Empty: a self-signed certificate in memory. Unused with --tls-cert-file.",
  ),
  "disable-http2-serving": flag(bool, false, "Accepted for compatibility; only HTTP/1.1 is served."),
  "http2-max-streams-per-connection": flag(int, 0, "Accepted for compatibility; only HTTP/1.1 is served."),
  "permit-address-sharing": flag(bool, false, "Accepted for compatibility; the port is always bound with SO_REUSEADDR."),
  "permit-port-sharing": flag(bool, false, "Bind the port with SO_REUSEPORT, so that more than one process can listen on it."),
  "secure-port": flag(int, 10258, "Port to serve HTTPS on: health, metrics, configuration, profiles. 0: serve nothing."),
  "tls-cert-file": flag(string, "", "Certificate to serve with, followed by its intermediates. Reloaded when it changes."),
  "tls-cipher-suites": flag(
    strings,
    none,
    `Cipher suites to allow. Empty: the runtime's own choice.\nKnown suites: ${Object.keys(cipherSuites).join(", ")}`,
  ),
  "tls-curve-preferences": flag(
    int32s,
    [],
    "Curves to allow for the key exchange, as Go CurveID numbers. Empty: the runtime's own choice.",
  ),
  "tls-min-version": flag(string, "", `Lowest TLS version to serve: ${Object.keys(tlsVersions).join(", ")}.`),
  "tls-private-key-file": flag(string, "", "Private key of --tls-cert-file."),
  "tls-sni-cert-key": flag(
    namedCertificates,
    [],
    "Certificate and key file for some host names: cert.pem,key.pem:*.example.com,example.com. Without names, those of the certificate. Repeat the flag for several.",
  ),
};

/** Who the users of the server are. */
export const authenticationFlags = {
  "authentication-kubeconfig": flag(
    string,
    "",
    "Kubeconfig of an identity that may create TokenReviews. Empty: the service account of the pod, and without one everybody is anonymous.",
  ),
  "authentication-skip-lookup": flag(bool, false, "Do not read ConfigMap kube-system/extension-apiserver-authentication."),
  "authentication-token-webhook-cache-ttl": flag(duration, 10_000, "How long the answer to a TokenReview is remembered."),
  "authentication-tolerate-lookup-failure": flag(
    bool,
    false,
    "Start even when that ConfigMap cannot be read; client certificates may then not be recognised.",
  ),
  "client-ca-file": flag(
    string,
    "",
    "CA of client certificates; the common name is the user, organizations are the groups. Overrides the ConfigMap's.",
  ),
  "requestheader-allowed-names": flag(
    strings,
    none,
    "Common names of client certificates that may say who the user is in headers. Empty: any that --requestheader-client-ca-file signed.",
  ),
  "requestheader-client-ca-file": flag(string, "", "CA of client certificates that may say who the user is in headers."),
  "requestheader-extra-headers-prefix": flag(strings, ["x-remote-extra-"], "Prefixes of headers with further attributes of the user."),
  "requestheader-group-headers": flag(strings, ["x-remote-group"], "Headers with the user's groups."),
  "requestheader-uid-headers": flag(strings, none, "Headers with the user's UID."),
  "requestheader-username-headers": flag(strings, ["x-remote-user"], "Headers with the user's name."),
};

/** What they may see. */
export const authorizationFlags = {
  "authorization-always-allow-paths": flag(
    strings,
    ["/healthz", "/readyz", "/livez"],
    "Paths everybody may read: exact, or a prefix when ending in *.",
  ),
  "authorization-kubeconfig": flag(
    string,
    "",
    "Kubeconfig of an identity that may create SubjectAccessReviews. Empty: the service account of the pod, and without one everything but the always allowed paths is forbidden.",
  ),
  "authorization-webhook-cache-authorized-ttl": flag(duration, 10_000, "How long a permission is remembered."),
  "authorization-webhook-cache-unauthorized-ttl": flag(duration, 10_000, "How long a refusal is remembered."),
};

/** All that opening the port takes. */
export type SecurePortFlags = FlagValues<
  typeof debuggingFlags & typeof secureServingFlags & typeof authenticationFlags & typeof authorizationFlags
>;

/** The flags' choice of TLS parameters. */
export function tlsChoice(options: SecurePortFlags): TlsChoice {
  return {
    minVersion: options["tls-min-version"] || undefined,
    cipherSuites: options["tls-cipher-suites"],
    curves: options["tls-curve-preferences"],
  };
}
