# The program by which kubelet logs in to registries of ECR. Where no settings say from where, it is up to whoever makes the image.
fairlead_install_credential_provider() {
  local file=/opt/deckhouse/bin/ecr-credential-provider url='' sum=''
  case "$(uname -m)" in
    *) ;;
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
