# static-node: what all layouts have in common. Linked into the root module of each, which says in its locals what differs.
module "static-node" {
  source = "../../../terraform-modules/static-node"

  layout                       = local.layout
  clusterConfiguration         = var.clusterConfiguration
  providerClusterConfiguration = var.providerClusterConfiguration
  clusterUUID                  = var.clusterUUID
  nodeGroupName                = var.nodeGroupName
  nodeIndex                    = var.nodeIndex
  cloudConfig                  = var.cloudConfig
  resourceManagementTimeout    = var.resourceManagementTimeout

  public           = local.public
  acceptSSH        = local.accept_ssh
  rootDiskDefaults = var.rootDiskDefaults == null ? { sizeGb = local.root_disk_gb, type = "gp2" } : var.rootDiskDefaults
  encryptDisks     = var.encryptDisks
  requireIMDSv2    = var.requireIMDSv2
  subnetPlan       = var.subnetPlan
}

variable "nodeGroupName" {
  description = "Which of nodeGroups the node belongs to."
  type        = string

  validation {
    condition     = contains([for group in try(var.providerClusterConfiguration.nodeGroups, []) : group.name], var.nodeGroupName)
    error_message = "nodeGroups has no group ${var.nodeGroupName}."
  }
}
