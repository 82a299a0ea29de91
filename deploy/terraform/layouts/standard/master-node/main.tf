# Standard: a node in an internal subnet.
locals {
  layout         = "Standard"
  public         = false
  bastion        = false
  own_zones_only = false
  root_disk_gb   = 50
}
