# How long kubelet keeps a machine from shutting down, in seconds: for all pods, and of that for the critical ones.
fairlead_set_cloud_variables() {
  local file=/var/lib/bashible/cloud-provider-variables
  mkdir -p /var/lib/bashible
  printf '%s\n' 'shutdown_grace_period="225"' 'shutdown_grace_period_critical_pods="15"' >"$file.new"
  mv "$file.new" "$file"
}
fairlead_set_cloud_variables
