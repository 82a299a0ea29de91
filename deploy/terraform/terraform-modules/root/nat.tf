# The layouts whose nodes reach the Internet through a NAT gateway: linked into their base-infrastructure.
variable "natGatewayPerZone" {
  description = "Opt-in. A NAT gateway and a route table in each zone, so that the loss of one zone leaves the others connected."
  type        = bool
  default     = false
}

# By IPv6 machines need no address of a gateway: theirs reach out, and nobody reaches in.
resource "aws_egress_only_internet_gateway" "kube" {
  count = local.ipv6 ? 1 : 0

  vpc_id = module.vpc.id
  tags   = merge(local.tags, { Name = local.prefix })
}

resource "aws_route" "internet_access_internal_ipv6" {
  for_each = local.ipv6 ? setunion(["internal"], local.more_nat_zones) : []

  route_table_id              = local.route_tables[each.key]
  destination_ipv6_cidr_block = "::/0"
  egress_only_gateway_id      = aws_egress_only_internet_gateway.kube[0].id
}

locals {
  subnets_per_zone  = 2
  nodes_are_public  = false
  node_subnets      = aws_subnet.kube_internal
  public_table_tags = {}

  # Local and Wavelength Zones have no NAT gateways.
  ordinary_zones  = [for zone in sort(data.aws_availability_zones.ordinary.names) : zone if contains(local.zones, zone)]
  more_nat_zones  = toset(var.natGatewayPerZone ? slice(local.ordinary_zones, 1, length(local.ordinary_zones)) : [])
  internal_tables = merge({ for zone in local.zones : zone => aws_route_table.kube_internal.id }, { for zone, table in aws_route_table.kube_internal_zone : zone => table.id })

  # Every table of ours by a name that is known before it exists.
  route_tables = merge(
    { internal = aws_route_table.kube_internal.id, public = aws_route_table.kube_public.id },
    { for zone, table in aws_route_table.kube_internal_zone : zone => table.id },
  )

  peering = {
    peers          = try(local.config.peeredVPCs, [])
    prefix         = local.prefix
    region         = local.config.provider.region
    tags           = local.tags
    vpc_id         = module.vpc.id
    vpc_cidr_block = module.vpc.cidr_block
    route_table_id = aws_route_table.kube_internal.id
    first_table    = "internal"
    route_tables   = local.route_tables
    all_routes     = var.peeringAllRoutes
  }
}

data "aws_availability_zones" "ordinary" {
  filter {
    name   = "opt-in-status"
    values = ["opt-in-not-required"]
  }
}

resource "aws_subnet" "kube_internal" {
  count = length(local.zones)

  vpc_id                  = module.vpc.id
  availability_zone       = local.zones[count.index]
  cidr_block              = cidrsubnet(local.node_network, local.bits, local.slots + count.index)
  map_public_ip_on_launch = false

  ipv6_cidr_block                 = local.ipv6 ? local.ipv6_blocks[local.slots + count.index] : null
  assign_ipv6_address_on_creation = local.ipv6 ? true : null

  tags = merge(local.tags, local.cluster_tags, {
    Name                              = "${local.prefix}-internal-${count.index}"
    "kubernetes.io/role/internal-elb" = "1"
  })
}

resource "aws_eip" "natgw" {
  domain = "vpc"
  tags   = merge(local.tags, { Name = "${local.prefix}-natgw" })
}

resource "aws_nat_gateway" "kube" {
  allocation_id = aws_eip.natgw.id
  subnet_id     = aws_subnet.kube_public[index(local.zones, local.ordinary_zones[0])].id
  tags          = merge(local.tags, { Name = local.prefix })

  # It passes traffic only with the internet gateway, which cannot be detached before it is gone.
  depends_on = [aws_internet_gateway.kube]
}

resource "aws_route_table" "kube_internal" {
  vpc_id = module.vpc.id
  tags   = merge(local.tags, local.cluster_tags, { Name = "${local.prefix}-internal" })
}

resource "aws_route" "internet_access_internal" {
  route_table_id         = aws_route_table.kube_internal.id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.kube.id
}

resource "aws_route_table_association" "kube_internal" {
  count = length(local.zones)

  subnet_id      = aws_subnet.kube_internal[count.index].id
  route_table_id = local.internal_tables[local.zones[count.index]]
}

resource "aws_eip" "natgw_zone" {
  for_each = local.more_nat_zones

  domain = "vpc"
  tags   = merge(local.tags, { Name = "${local.prefix}-natgw-${each.key}" })
}

resource "aws_nat_gateway" "zone" {
  for_each = local.more_nat_zones

  allocation_id = aws_eip.natgw_zone[each.key].id
  subnet_id     = aws_subnet.kube_public[index(local.zones, each.key)].id
  tags          = merge(local.tags, { Name = "${local.prefix}-${each.key}" })

  depends_on = [aws_internet_gateway.kube]
}

# All of them are marked: the controller manager writes pod routes into every table of the cluster.
resource "aws_route_table" "kube_internal_zone" {
  for_each = local.more_nat_zones

  vpc_id = module.vpc.id
  tags   = merge(local.tags, local.cluster_tags, { Name = "${local.prefix}-internal-${each.key}" })
}

resource "aws_route" "internet_access_internal_zone" {
  for_each = local.more_nat_zones

  route_table_id         = aws_route_table.kube_internal_zone[each.key].id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.zone[each.key].id
}
