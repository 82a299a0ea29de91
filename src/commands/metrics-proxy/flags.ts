/** The flags of the metrics proxy: those of kube-rbac-proxy that the platform gives it. */
import { type FlagSection, type FlagValues, flag } from "../../runtime/flags.ts";
import { bool, duration, int, string } from "../../runtime/flags-kinds.ts";

export const flags = {
  "config-file": flag(string, "", "File with what is forwarded and to whom. The variable KUBE_RBAC_PROXY_CONFIG, where it is set, wins."),
  kubeconfig: flag(string, "", "Path of a kubeconfig file. Empty: the service account of the pod."),
  "livez-path": flag(string, "", "Path that the proxy answers by itself, to anybody. Empty: none."),
  logtostderr: flag(bool, true, "Accepted for compatibility; the log goes to standard error."),
  "secure-listen-address": flag(string, ":8443", "Where it listens, with TLS."),
  "stale-cache-interval": flag(duration, 0, "How long those who were allowed stay so while the API server does not answer. 0: not at all."),
  "tls-cert-file": flag(string, "", "File with its certificate. Empty: one is made at the start."),
  "tls-private-key-file": flag(string, "", "File with the key of --tls-cert-file."),
  v: flag(int, 0, "Verbosity of the log.", { shorthand: "v" }),
  help: flag(bool, false, "Print this help.", { shorthand: "h" }),
};

export type Options = FlagValues<typeof flags>;

export const flagSections: readonly FlagSection[] = [{ title: "Proxy", flags }];
