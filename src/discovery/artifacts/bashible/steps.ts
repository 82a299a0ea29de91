/**
 * What a machine runs again and again, by name and in this order. Nothing here ends the shell that it runs in (`exit`, or `return` outside
 * of a function): whether the platform starts a step or reads it into a shell of its own differs by its release. The functions of the
 * platform that are called, `bb-flag-set` alone, are called only where they are.
 */
import { stringify } from "yaml";
import type { CredentialProviderSource } from "../input.ts";

/** Where the platform's kubelet looks for the program and its configuration. */
const binary = "/opt/deckhouse/bin/ecr-credential-provider";
const config = "/var/lib/bashible/kubelet-credential-provider-config.yaml";

/** The steps; the program for images in ECR is fetched from where the settings say, if they do. */
export function bashibleSteps(source: CredentialProviderSource | undefined): Readonly<Record<string, string>> {
  return {
    "000_add_extra_modules.sh.tpl": addExtraModules,
    "000_set_cloud_variables.sh.tpl": setCloudVariables,
    "001_create_nvme_ebs_aliases.sh.tpl": createAliases,
    "006_install_aws_specific_binaries.sh.tpl": installBinaries(source ?? {}),
    "007_enable_ecr_credential_provider.sh.tpl": enableCredentialProvider,
  };
}

const addExtraModules = `# Ubuntu's kernels for AWS come without erofs; a machine does without it if it cannot be had.
fairlead_add_extra_modules() {
  grep -qsE '^ID="?ubuntu"?$' /etc/os-release || return 0
  ! modinfo erofs >/dev/null 2>&1 || return 0
  local package
  package="linux-modules-extra-$(uname -r)"
  { DEBIAN_FRONTEND=noninteractive apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy install "$package"; } ||
    echo "warning: $package cannot be installed: there is no erofs on this machine" >&2
}
fairlead_add_extra_modules
`;

const setCloudVariables = String.raw`# How long kubelet keeps a machine from shutting down, in seconds: for all pods, and of that for the critical ones.
fairlead_set_cloud_variables() {
  local file=/var/lib/bashible/cloud-provider-variables
  mkdir -p /var/lib/bashible
  printf '%s\n' 'shutdown_grace_period="225"' 'shutdown_grace_period_critical_pods="15"' >"$file.new"
  mv "$file.new" "$file"
}
fairlead_set_cloud_variables
`;

const createAliases = String.raw`{{- if eq .nodeGroup.name "master" }}
# A volume that is attached as /dev/xvdf is /dev/nvme1n1 or so to the machine: the name is in the vendor's part of the controller's data.
fairlead_device_name() {
  if command -v nvme >/dev/null; then
    nvme id-ctrl --raw-binary "$1" | tail -c +3073 | tr '\n' ' ' | cut -b1-32 | tr -d '\0 \n'
  elif command -v ebsnvme-id >/dev/null; then
    ebsnvme-id --block-dev "$1"
  else
    echo "neither nvme nor ebsnvme-id is installed: nothing tells as what $1 is attached" >&2
    return 1
  fi
}

fairlead_create_aliases() {
  [ -v FIRST_BASHIBLE_RUN ] && [ "$FIRST_BASHIBLE_RUN" = yes ] || return 0
  [ ! -e /var/lib/bashible/kubernetes-data-device-installed ] || return 0
  local device name
  for device in /dev/nvme0n1 /dev/nvme1n1 /dev/nvme2n1; do
    [ -e "$device" ] || continue
    # A disk of the machine itself has no such name; and the platform may find the one for data without it.
    name="$(fairlead_device_name "$device")" || {
      echo "warning: $device has no name of a volume that can be read" >&2
      continue
    }
    name="$(basename "$name")"
    case "$name" in
      sd* | xvd*) [ -e "/dev/$name" ] || ln -sfn "$device" "/dev/$name" ;;
      *) ;;
    esac
  done
}
fairlead_create_aliases
{{- end }}
`;

/** A URL and a checksum cannot have a quote in them: their schema says so. */
function installBinaries({ amd64, arm64 }: CredentialProviderSource): string {
  const row = (machine: string, from: typeof amd64) =>
    from === undefined ? "" : `    ${machine}) url='${from.url}' sum='${from.sha256}' ;;\n`;
  return `# The program by which kubelet logs in to registries of ECR. Where no settings say from where, it is up to whoever makes the image.
fairlead_install_credential_provider() {
  local file=${binary} url='' sum=''
  case "$(uname -m)" in
${row("x86_64", amd64)}${row("aarch64", arm64)}    *) ;;
  esac
  [ -n "$url" ] || return 0
  if [ -x "$file" ] && echo "$sum  $file" | sha256sum --check --status; then return 0; fi
  mkdir -p "$(dirname "$file")"
  if ! curl --silent --fail --location --max-time 120 --output "$file.new" "$url"; then
    echo "the credential provider for ECR cannot be fetched; what is there stays" >&2
    rm -f "$file.new"
    [ -x "$file" ]
    return
  fi
  if ! echo "$sum  $file.new" | sha256sum --check --status; then
    echo "the credential provider for ECR is not what its checksum says, and is not installed" >&2
    rm -f "$file.new"
    return 1
  fi
  chmod 0755 "$file.new"
  mv "$file.new" "$file"
}
fairlead_install_credential_provider
`;
}

/** Every image of ECR, in every partition. */
const patterns = ["dkr.ecr", "dkr.ecr-fips"].flatMap((service) =>
  ["amazonaws.com", "amazonaws.com.cn", "sc2s.sgov.gov", "c2s.ic.gov"].map((suffix) => `*.${service}.*.${suffix}`),
);

const enableCredentialProvider = `# Kubelet does not start with a configuration that names a program that is not there.
fairlead_flag() {
  if declare -F bb-flag-set >/dev/null; then
    bb-flag-set "$1"
  else
    echo "this platform has no bb-flag-set: $1 is not set" >&2
  fi
}

fairlead_enable_credential_provider() {
  local file=${config}
  if [ ! -x ${binary} ]; then
    echo "${binary} is not there: images of ECR are pulled without a login" >&2
    return 0
  fi
  cat >"$file.new" <<'END_OF_CONFIG'
${stringify({
  apiVersion: "kubelet.config.k8s.io/v1",
  kind: "CredentialProviderConfig",
  providers: [
    {
      name: "ecr-credential-provider",
      apiVersion: "credentialprovider.kubelet.k8s.io/v1",
      defaultCacheDuration: "0",
      matchImages: patterns,
    },
  ],
}).trimEnd()}
END_OF_CONFIG
  if cmp -s "$file.new" "$file"; then
    rm "$file.new"
  else
    # First: a run that ends in between would not see the change again.
    fairlead_flag kubelet-need-restart
    mv "$file.new" "$file"
  fi
  fairlead_flag kubelet-enable-credential-provider
}
fairlead_enable_credential_provider
`;
