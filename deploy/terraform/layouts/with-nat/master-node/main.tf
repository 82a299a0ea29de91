# WithNAT: a node in an internal subnet.
locals {
  layout         = "WithNAT"
  public         = false
  bastion        = try(var.providerClusterConfiguration.withNAT.bastionInstance, null) != null
  own_zones_only = false
  root_disk_gb   = 20
}
