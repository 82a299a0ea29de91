# Standard: a node in an internal subnet.
locals {
  layout       = "Standard"
  public       = false
  accept_ssh   = false
  root_disk_gb = 50
}
