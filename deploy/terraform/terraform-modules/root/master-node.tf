# master-node: what all layouts have in common. Linked into the root module of each, which says in its locals what differs.
module "master-node" {
  source = "../../../terraform-modules/master-node"

  layout                       = local.layout
  clusterConfiguration         = var.clusterConfiguration
  providerClusterConfiguration = var.providerClusterConfiguration
  clusterUUID                  = var.clusterUUID
  nodeIndex                    = var.nodeIndex
  cloudConfig                  = var.cloudConfig
  resourceManagementTimeout    = var.resourceManagementTimeout

  public           = local.public
  bastion          = local.bastion
  ownZonesOnly     = local.own_zones_only
  rootDiskDefaults = var.rootDiskDefaults == null ? { sizeGb = local.root_disk_gb, type = "gp2" } : var.rootDiskDefaults
  encryptDisks     = var.encryptDisks
  requireIMDSv2    = var.requireIMDSv2
  subnetPlan       = var.subnetPlan
}
