# Standard: a node in an internal subnet.
module "master-node" {
  source = "../../../terraform-modules/master-node"

  layout                       = "Standard"
  clusterConfiguration         = var.clusterConfiguration
  providerClusterConfiguration = var.providerClusterConfiguration
  clusterUUID                  = var.clusterUUID
  nodeIndex                    = var.nodeIndex
  cloudConfig                  = var.cloudConfig
  resourceManagementTimeout    = var.resourceManagementTimeout

  public           = false
  bastion          = false
  ownZonesOnly     = false
  rootDiskDefaults = var.rootDiskDefaults == null ? { sizeGb = 50, type = "gp2" } : var.rootDiskDefaults
  encryptDisks     = var.encryptDisks
  requireIMDSv2    = var.requireIMDSv2
  subnetPlan       = var.subnetPlan
}
