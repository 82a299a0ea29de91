# WithNAT: a node in an internal subnet.
module "static-node" {
  source = "../../../terraform-modules/static-node"

  layout                       = "WithNAT"
  clusterConfiguration         = var.clusterConfiguration
  providerClusterConfiguration = var.providerClusterConfiguration
  clusterUUID                  = var.clusterUUID
  nodeGroupName                = var.nodeGroupName
  nodeIndex                    = var.nodeIndex
  cloudConfig                  = var.cloudConfig
  resourceManagementTimeout    = var.resourceManagementTimeout

  public           = false
  acceptSSH        = false
  rootDiskDefaults = var.rootDiskDefaults == null ? { sizeGb = 20, type = "gp2" } : var.rootDiskDefaults
  encryptDisks     = var.encryptDisks
  requireIMDSv2    = var.requireIMDSv2
  subnetPlan       = var.subnetPlan
}
