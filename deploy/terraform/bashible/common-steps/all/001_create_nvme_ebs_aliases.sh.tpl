{{- if eq .nodeGroup.name "master" }}
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
