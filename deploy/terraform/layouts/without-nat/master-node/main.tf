# WithoutNAT: a node in a public subnet with an Elastic IP address.
locals {
  layout         = "WithoutNAT"
  public         = true
  bastion        = false
  own_zones_only = !var.mastersFollowZones
  root_disk_gb   = 20
}

variable "mastersFollowZones" {
  description = "Opt-in. zones restricts masters too, and not only masterNodeGroup.zones."
  type        = bool
  default     = false
}
