# WithNAT: a node in an internal subnet.
locals {
  layout       = "WithNAT"
  public       = false
  accept_ssh   = false
  root_disk_gb = 20
}
