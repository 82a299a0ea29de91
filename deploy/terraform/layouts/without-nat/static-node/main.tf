# WithoutNAT: a node in a public subnet with an Elastic IP address.
module "static-node" {
  source = "../../../terraform-modules/static-node"

  layout                       = "WithoutNAT"
  clusterConfiguration         = var.clusterConfiguration
  providerClusterConfiguration = var.providerClusterConfiguration
  clusterUUID                  = var.clusterUUID
  nodeGroupName                = var.nodeGroupName
  nodeIndex                    = var.nodeIndex
  cloudConfig                  = var.cloudConfig
  resourceManagementTimeout    = var.resourceManagementTimeout

  public           = true
  acceptSSH        = var.staticNodesAcceptSSH
  rootDiskDefaults = var.rootDiskDefaults == null ? { sizeGb = 20, type = "gp2" } : var.rootDiskDefaults
  encryptDisks     = var.encryptDisks
  requireIMDSv2    = var.requireIMDSv2
  subnetPlan       = var.subnetPlan
}

variable "staticNodesAcceptSSH" {
  description = "Opt-in. The node gets the group that lets SSH in from sshAllowList."
  type        = bool
  default     = false
}
