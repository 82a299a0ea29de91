# WithoutNAT: a node in a public subnet with an Elastic IP address.
locals {
  layout       = "WithoutNAT"
  public       = true
  accept_ssh   = var.staticNodesAcceptSSH
  root_disk_gb = 20
}

variable "staticNodesAcceptSSH" {
  description = "Opt-in. The node gets the group that lets SSH in from sshAllowList."
  type        = bool
  default     = false
}
