# What the steps master-node and static-node have in common: linked into both modules.
variable "layout" {
  description = "As it is written in the configuration: WithoutNAT, WithNAT or Standard."
  type        = string
}

variable "clusterConfiguration" {
  type = any
}

variable "providerClusterConfiguration" {
  type = any
}

variable "clusterUUID" {
  type = string
}

variable "nodeIndex" {
  type = number
}

variable "cloudConfig" {
  type      = any
  sensitive = true
}

variable "resourceManagementTimeout" {
  type = string
}

variable "public" {
  description = "true: the node stands in a public subnet and gets an Elastic IP address."
  type        = bool
}

variable "rootDiskDefaults" {
  type = object({ sizeGb = number, type = string })
}

variable "encryptDisks" {
  type = bool
}

variable "requireIMDSv2" {
  type = bool
}

variable "subnetPlan" {
  type = object({ zones = list(string), slots = number })
}

locals {
  prefix         = var.clusterConfiguration.cloud.prefix
  config         = var.providerClusterConfiguration
  instance_class = local.group.instanceClass
  kind           = var.public ? "public" : "internal"

  node_tags    = merge(try(local.config.tags, {}), try(local.group.additionalTags, {}))
  cluster_tags = { for name in [var.clusterUUID, local.prefix] : "kubernetes.io/cluster/${name}" => "shared" }

  region_zones = var.subnetPlan == null ? sort(data.aws_availability_zones.available.names) : var.subnetPlan.zones

  # As everywhere: the zones of the region, of which `zones` and then the group's own `zones` leave some.
  allowed_zones = [
    for zone in local.region_zones : zone
    if contains(try(local.config.zones, local.region_zones), zone) && contains(try(local.group.zones, local.region_zones), zone)
  ]
  zone      = length(local.zones) == 0 ? "" : local.zones[var.nodeIndex % length(local.zones)]
  subnet_id = lookup({ for subnet in data.aws_subnet.kube : subnet.availability_zone => subnet.id }, local.zone, null)

  has_groups    = !try(local.config.disableDefaultSecurityGroup, false)
  has_ssh_group = local.has_groups && length(try(local.config.sshAllowList, ["0.0.0.0/0"])) > 0
  needs_ssh     = local.has_ssh_group && local.accepts_ssh

  security_groups = concat(
    data.aws_security_group.node[*].id,
    data.aws_security_group.ssh-accessible[*].id,
    try(local.instance_class.additionalSecurityGroups, []),
  )

  root_disk = {
    size = try(local.instance_class.diskSizeGb, var.rootDiskDefaults.sizeGb)
    type = try(local.instance_class.diskType, var.rootDiskDefaults.type)
  }

  # From release 6 on the provider shows it as it is: it stays marked. Changes of it are ignored, so no state that is there differs by the mark.
  user_data = nonsensitive(var.cloudConfig == "") ? "" : base64decode(var.cloudConfig)
}

data "aws_availability_zones" "available" {}

# By name and by the mark of this cluster, so that two clusters of one prefix do not find each other's.
data "aws_subnet" "kube" {
  count = length(local.region_zones)

  tags = {
    Name                                       = "${local.prefix}-${local.kind}-${count.index}"
    "kubernetes.io/cluster/${var.clusterUUID}" = "shared"
  }
}

data "aws_security_group" "node" {
  count = local.has_groups ? 1 : 0

  name   = "${local.prefix}-node"
  vpc_id = data.aws_subnet.kube[0].vpc_id
}

data "aws_security_group" "ssh-accessible" {
  count = local.needs_ssh ? 1 : 0

  name   = "${local.prefix}-ssh-accessible"
  vpc_id = data.aws_subnet.kube[0].vpc_id
}
