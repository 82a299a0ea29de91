# Kubelet does not start with a configuration that names a program that is not there.
fairlead_flag() {
  if declare -F bb-flag-set >/dev/null; then
    bb-flag-set "$1"
  else
    echo "this platform has no bb-flag-set: $1 is not set" >&2
  fi
}

fairlead_enable_credential_provider() {
  local file=/var/lib/bashible/kubelet-credential-provider-config.yaml
  if [ ! -x /opt/deckhouse/bin/ecr-credential-provider ]; then
    echo "/opt/deckhouse/bin/ecr-credential-provider is not there: images of ECR are pulled without a login" >&2
    return 0
  fi
  cat >"$file.new" <<'END_OF_CONFIG'
apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
  - name: ecr-credential-provider
    apiVersion: credentialprovider.kubelet.k8s.io/v1
    defaultCacheDuration: "0"
    matchImages:
      - "*.dkr.ecr.*.amazonaws.com"
      - "*.dkr.ecr.*.amazonaws.com.cn"
      - "*.dkr.ecr.*.sc2s.sgov.gov"
      - "*.dkr.ecr.*.c2s.ic.gov"
      - "*.dkr.ecr-fips.*.amazonaws.com"
      - "*.dkr.ecr-fips.*.amazonaws.com.cn"
      - "*.dkr.ecr-fips.*.sc2s.sgov.gov"
      - "*.dkr.ecr-fips.*.c2s.ic.gov"
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
