# WithoutNAT: a node in a public subnet with an Elastic IP address.
module "master-node" {
  source = "../../../terraform-modules/master-node"

  layout                       = "WithoutNAT"
  clusterConfiguration         = var.clusterConfiguration
  providerClusterConfiguration = var.providerClusterConfiguration
  clusterUUID                  = var.clusterUUID
  nodeIndex                    = var.nodeIndex
  cloudConfig                  = var.cloudConfig
  resourceManagementTimeout    = var.resourceManagementTimeout

  public           = true
  bastion          = false
  ownZonesOnly     = !var.mastersFollowZones
  rootDiskDefaults = var.rootDiskDefaults == null ? { sizeGb = 20, type = "gp2" } : var.rootDiskDefaults
  encryptDisks     = var.encryptDisks
  requireIMDSv2    = var.requireIMDSv2
  subnetPlan       = var.subnetPlan
}

variable "mastersFollowZones" {
  description = "Opt-in. zones restricts masters too, and not only masterNodeGroup.zones."
  type        = bool
  default     = false
}
