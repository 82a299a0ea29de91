# base-infrastructure: what all layouts have in common. Linked into the root module of each, which says in local.layout which it is.
locals {
  prefix       = var.clusterConfiguration.cloud.prefix
  config       = var.providerClusterConfiguration
  tags         = merge(try(local.config.tags, {}))
  cluster_tags = { for name in [var.clusterUUID, local.prefix] : "kubernetes.io/cluster/${name}" => "shared" }

  zones           = var.subnetPlan == null ? sort(data.aws_availability_zones.available.names) : var.subnetPlan.zones
  slots           = var.subnetPlan == null ? length(local.zones) : var.subnetPlan.slots
  effective_zones = sort([for zone in local.zones : zone if contains(try(local.config.zones, local.zones), zone)])

  # The range is divided once for each subnet, by the next power of two: bits = ceil(log2(parts)).
  parts        = local.slots * local.subnets_per_zone
  bits         = length([for bit in range(16) : bit if pow(2, bit) < local.parts])
  node_network = try(local.config.nodeNetworkCIDR, module.vpc.cidr_block)

  makes_role          = !(var.skipUnusedNodeRole && try(local.config.iamNodeRole, null) != null)
  internet_gateway_id = one(concat(aws_internet_gateway.kube[*].id, data.aws_internet_gateway.existing[*].id))
  etcd_disk_name      = "${local.prefix}-kubernetes-data-${local.config.masterNodeGroup.replicas - 1}"
}

data "aws_availability_zones" "available" {}

module "vpc" {
  source = "../../../terraform-modules/vpc"

  prefix          = local.prefix
  existing_vpc_id = try(local.config.existingVPCID, null)
  cidr_block      = try(local.config.vpcNetworkCIDR, null)
  ipv6            = local.ipv6
  tags            = local.tags
}

module "security-groups" {
  source = "../../../terraform-modules/security-groups"

  prefix                    = local.prefix
  vpc_id                    = module.vpc.id
  enabled                   = !try(local.config.disableDefaultSecurityGroup, false)
  ssh_allow_list            = try(local.config.sshAllowList, ["0.0.0.0/0"])
  public_network_allow_list = try(local.config.publicNetworkAllowList, ["0.0.0.0/0"])
  tags                      = local.tags
  cluster_tags              = local.cluster_tags
  ipv6                      = local.ipv6
  ipv6_allow_list           = local.ipv6 ? var.ipv6.allowList : []
}

resource "aws_subnet" "kube_public" {
  count = length(local.zones)

  vpc_id                  = module.vpc.id
  availability_zone       = local.zones[count.index]
  cidr_block              = cidrsubnet(local.node_network, local.bits, count.index)
  map_public_ip_on_launch = true

  ipv6_cidr_block                 = local.ipv6 ? local.ipv6_blocks[count.index] : null
  assign_ipv6_address_on_creation = local.ipv6 ? true : null

  tags = merge(local.tags, local.cluster_tags, {
    Name                     = "${local.prefix}-public-${count.index}"
    "kubernetes.io/role/elb" = "1"
  })
}

resource "aws_internet_gateway" "kube" {
  count = var.adoptInternetGateway ? 0 : 1

  vpc_id = module.vpc.id
  tags   = merge(local.tags, { Name = local.prefix })
}

moved {
  from = aws_internet_gateway.kube
  to   = aws_internet_gateway.kube[0]
}

data "aws_internet_gateway" "existing" {
  count = var.adoptInternetGateway ? 1 : 0

  filter {
    name   = "attachment.vpc-id"
    values = [module.vpc.id]
  }
}

resource "aws_route_table" "kube_public" {
  vpc_id = module.vpc.id
  tags   = merge(local.tags, local.public_table_tags, { Name = "${local.prefix}-public" })
}

resource "aws_route" "internet_access_public" {
  route_table_id         = aws_route_table.kube_public.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = local.internet_gateway_id
}

resource "aws_route_table_association" "kube_public" {
  count = length(local.zones)

  subnet_id      = aws_subnet.kube_public[count.index].id
  route_table_id = aws_route_table.kube_public.id
}

resource "aws_key_pair" "ssh" {
  key_name   = local.prefix
  public_key = local.config.sshPublicKey
  tags       = merge(local.tags, { Cluster = local.prefix })
}

resource "aws_iam_role" "node" {
  count = local.makes_role ? 1 : 0

  name = "${local.prefix}-node"
  tags = local.tags
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ec2.amazonaws.com" }
    }]
  })
}

resource "aws_iam_role_policy" "node" {
  count = local.makes_role ? 1 : 0

  name = "${local.prefix}-node"
  role = aws_iam_role.node[0].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([{
      Effect   = "Allow"
      Action   = concat(try(local.config.additionalRolePolicies, []), ["ec2:DescribeTags", "ec2:DescribeInstances"])
      Resource = ["*"]
    }], [for statement in var.nodePolicyStatements : { Effect = "Allow", Action = statement.actions, Resource = statement.resources }])
  })
}

moved {
  from = aws_iam_role.node
  to   = aws_iam_role.node[0]
}

moved {
  from = aws_iam_role_policy.node
  to   = aws_iam_role_policy.node[0]
}

resource "aws_iam_instance_profile" "node" {
  name = "${local.prefix}-node"
  role = try(local.config.iamNodeRole, aws_iam_role.node[0].id)
}
