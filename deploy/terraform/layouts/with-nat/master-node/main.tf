# WithNAT: a node in an internal subnet.
module "master-node" {
  source = "../../../terraform-modules/master-node"

  layout                       = "WithNAT"
  clusterConfiguration         = var.clusterConfiguration
  providerClusterConfiguration = var.providerClusterConfiguration
  clusterUUID                  = var.clusterUUID
  nodeIndex                    = var.nodeIndex
  cloudConfig                  = var.cloudConfig
  resourceManagementTimeout    = var.resourceManagementTimeout

  public           = false
  bastion          = try(var.providerClusterConfiguration.withNAT.bastionInstance, null) != null
  ownZonesOnly     = false
  rootDiskDefaults = var.rootDiskDefaults == null ? { sizeGb = 20, type = "gp2" } : var.rootDiskDefaults
  encryptDisks     = var.encryptDisks
  requireIMDSv2    = var.requireIMDSv2
  subnetPlan       = var.subnetPlan
}
