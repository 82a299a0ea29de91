/** Command lines that cannot work, each with the reason; the first one counts. */
import { OptionsInvalid } from "../../process/flag-problems.ts";
import type { FlagValues } from "../../runtime/flags.ts";
import type { ControllerSettings } from "../../volumes/controller/context.ts";
import { parseEndpoint } from "../../volumes/csi/endpoint.ts";
import { metadataSources } from "../../volumes/node/metadata.ts";
import { reservedTag } from "../../volumes/tags.ts";
import type { driverFlags } from "./flags.ts";

/** What the command line says. A flag of another mode is undefined. */
export type DriverValues = Partial<FlagValues<typeof driverFlags>>;

/** The sources in their spelling. */
export function sourcesOf(values: DriverValues): readonly string[] {
  return (values["metadata-sources"] ?? []).map((source) => source.trim().toLowerCase());
}

/** The tags of both flags; the older one had no effect in the reference. */
export function extraTags(values: DriverValues): Readonly<Record<string, string>> {
  return { ...values["extra-volume-tags"], ...values["extra-tags"] };
}

/** What the command line says to the controller. */
export function controllerSettings(values: DriverValues): ControllerSettings {
  return {
    tags: {
      extraTags: extraTags(values),
      clusterId: values["k8s-tag-cluster-id"] || undefined,
      warnOnInvalid: values["warn-on-invalid-tag"] ?? false,
    },
    nodeLocalVolumes: values["enable-node-local-volumes"] ?? false,
    modifyWindowMs: values["modify-volume-request-handler-timeout"] ?? 0,
  };
}

/** Throws `OptionsInvalid` with the first thing that cannot work. */
export function validate(values: DriverValues): void {
  const problem = problems(values).next().value;
  if (problem !== undefined) throw new OptionsInvalid([problem]);
}

function* problems(values: DriverValues): Generator<string, undefined> {
  const isGiven = (value: number | undefined) => value !== undefined && value !== -1;
  if (isGiven(values["volume-attach-limit"]) && isGiven(values["reserved-volume-attachments"])) {
    yield "only one of --volume-attach-limit and --reserved-volume-attachments may be specified";
  }
  if (values["metrics-cert-file"] || values["metrics-key-file"]) {
    for (const name of ["http-endpoint", "metrics-cert-file", "metrics-key-file"] as const) {
      if (!values[name]) yield `--${name} MUST be specified when using the metrics server with HTTPS`;
    }
  }
  const sources = sourcesOf(values);
  const unknown = sources.find((source) => !(metadataSources as readonly string[]).includes(source));
  if (unknown !== undefined) {
    yield `invalid source: argument --metadata-sources=[${sources.join(" ")}] included invalid option '${unknown}', comma-separated string MUST only include tokens like 'imds' or 'kubernetes'`;
  }
  for (const key of Object.keys(extraTags(values))) {
    const reserved = reservedTag(key);
    if (reserved !== undefined) yield `invalid driver options: invalid extra tags: ${reserved}`;
  }
  if (values["modify-volume-request-handler-timeout"] === 0) {
    yield "invalid driver options: invalid modifyVolumeRequestHandlerTimeout: timeout cannot be zero";
  }
  if (values["built-in-roles"] && !values["k8s-tag-cluster-id"]) {
    yield "--built-in-roles needs --k8s-tag-cluster-id: volumes of claims that are gone are found by its tag";
  }
  if (values["built-in-roles"] && values["metrics-cert-file"]) yield "--built-in-roles serves metrics without --metrics-cert-file";
  if (values["volume-labels"] && !values["built-in-roles"]) {
    yield "--volume-labels needs --built-in-roles: without them the process follows no PersistentVolumes";
  }
  for (const name of ["webhook-secret", "webhook-cert-dir"] as const) {
    if (values[name] && !values["volume-labels"]) yield `without --volume-labels there is no webhook for --${name}`;
  }
  if (values["windows-host-process"]) yield "--windows-host-process is for Windows nodes";
  try {
    parseEndpoint(values.endpoint ?? "");
  } catch (error) {
    yield `--endpoint: ${(error as Error).message}`;
  }
  return undefined;
}
