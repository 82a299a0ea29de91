# Ubuntu's kernels for AWS come without erofs; a machine does without it if it cannot be had.
fairlead_add_extra_modules() {
  grep -qsE '^ID="?ubuntu"?$' /etc/os-release || return 0
  ! modinfo erofs >/dev/null 2>&1 || return 0
  local package
  package="linux-modules-extra-$(uname -r)"
  { DEBIAN_FRONTEND=noninteractive apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy install "$package"; } ||
    echo "warning: $package cannot be installed: there is no erofs on this machine" >&2
}
fairlead_add_extra_modules
