/** Flags of the HTTPS server, of who may use it, and of logging. */
import { flag, type Kind, undecided } from "../../runtime/flags.ts";
import { goQuote, parseGoBool } from "../../runtime/flags-go.ts";
import {
  bool,
  duration,
  int,
  int32s,
  ip,
  level,
  namedCertificates,
  quantity,
  string,
  strings,
  vmodule,
} from "../../runtime/flags-kinds.ts";
import { cipherSuites, tlsVersions } from "../../runtime/tls-options.ts";

const none: readonly string[] = [];

/** Webhooks, of which there are none. */
export const webhookFlags = {
  webhooks: flag(strings, none, "Admission webhooks to serve. There are none: every name is refused."),
};

/** The server webhooks would have. */
export const webhookServingFlags = {
  "webhook-bind-address": flag(ip, "0.0.0.0", "Accepted for compatibility; no webhook is served."),
  "webhook-cert-dir": flag(string, "", "Accepted for compatibility; no webhook is served."),
  "webhook-disable-http2-serving": flag(bool, false, "Accepted for compatibility; no webhook is served."),
  "webhook-secure-port": flag(int, 10260, "Accepted for compatibility; no webhook is served. Must differ from --secure-port unless 0."),
  "webhook-tls-cert-file": flag(string, "", "Accepted for compatibility; no webhook is served."),
  "webhook-tls-cipher-suites": flag(strings, none, "Accepted for compatibility; no webhook is served."),
  "webhook-tls-curve-preferences": flag(int32s, [], "Accepted for compatibility; no webhook is served."),
  "webhook-tls-min-version": flag(string, "", "Accepted for compatibility; no webhook is served."),
  "webhook-tls-private-key-file": flag(string, "", "Accepted for compatibility; no webhook is served."),
  "webhook-tls-sni-cert-key": flag(namedCertificates, [], "Accepted for compatibility; no webhook is served."),
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
    "Kubeconfig of whom may create TokenReviews. Empty: the service account of the pod, and without one everybody is anonymous.",
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
    "Kubeconfig of whom may create SubjectAccessReviews. Empty: the service account of the pod, and without one everything but the always allowed paths is forbidden.",
  ),
  "authorization-webhook-cache-authorized-ttl": flag(duration, 10_000, "How long a permission is remembered."),
  "authorization-webhook-cache-unauthorized-ttl": flag(duration, 10_000, "How long a refusal is remembered."),
};

/** What `--version` asks for. */
export interface VersionRequest {
  readonly print: "no" | "short" | "raw";
  /** The version to report in place of our own. */
  readonly reported?: string;
}

const version: Kind<VersionRequest> = {
  type: "version",
  bare: "true",
  parse(text, before) {
    if (text === "raw") return { ...before, print: "raw" };
    if (!text.startsWith("v")) return { ...before, print: parseGoBool(text) ? "short" : "no" };
    if (!/^v\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$/.test(text)) throw new SyntaxError(`illegal version string ${goQuote(text)}`);
    return { print: before?.print ?? "no", reported: text };
  },
  print: ({ print }) => ({ no: "false", short: "true", raw: "raw" })[print],
};

/** Help, version and the log. */
export const globalFlags = {
  help: flag(bool, false, "Print this help.", { shorthand: "h" }),
  "log-flush-frequency": flag(duration, 5_000, "Accepted for compatibility; lines of the log are not held back."),
  "log-text-info-buffer-size": flag(quantity, 0, "Accepted for compatibility, with feature gate LoggingAlphaOptions only; has no effect."),
  "log-text-split-stream": flag(bool, false, "Accepted for compatibility, with feature gate LoggingAlphaOptions only; has no effect."),
  "logging-format": undecided(string, "text on a terminal, else json", "Format of the log: text or json."),
  v: flag(level, 0, "Verbosity of the log.", { shorthand: "v" }),
  version: flag(
    version,
    { print: "no" },
    "Print the version and end; raw prints all that is known of the build; vX.Y.Z sets the version that is reported.",
  ),
  vmodule: flag(
    vmodule,
    {},
    "Verbosity of parts of the program: pattern=N, matched against the field logger of a line; * stands for anything.",
  ),
};
