# Peering with VPCs of the same account and region. It reads local.peering only, because with-nat has it in its root module.
data "aws_caller_identity" "kube" {
  count = length(local.peering.peers) > 0 ? 1 : 0
}

data "aws_vpc" "target" {
  count = length(local.peering.peers)

  id = local.peering.peers[count.index]
}

data "aws_subnets" "target" {
  count = length(local.peering.peers)

  filter {
    name   = "vpc-id"
    values = [local.peering.peers[count.index]]
  }
}

# The table of the peer's first subnet; one without an explicit association is an error here.
data "aws_route_table" "target" {
  count = length(local.peering.peers)

  subnet_id = data.aws_subnets.target[count.index].ids[0]
}

resource "aws_vpc_peering_connection" "kube" {
  count = length(local.peering.peers)

  vpc_id        = local.peering.vpc_id
  peer_vpc_id   = local.peering.peers[count.index]
  peer_owner_id = data.aws_caller_identity.kube[0].account_id
  peer_region   = local.peering.region
  auto_accept   = false
  tags          = merge(local.peering.tags, { Name = local.peering.prefix })
}

resource "aws_vpc_peering_connection_accepter" "kube" {
  count = length(local.peering.peers)

  vpc_peering_connection_id = aws_vpc_peering_connection.kube[count.index].id
  auto_accept               = true
  tags                      = merge(local.peering.tags, { Name = local.peering.prefix })
}

resource "aws_route" "kube" {
  count = length(local.peering.peers)

  route_table_id            = local.peering.route_table_id
  destination_cidr_block    = data.aws_vpc.target[count.index].cidr_block
  vpc_peering_connection_id = aws_vpc_peering_connection_accepter.kube[count.index].id
}

resource "aws_route" "target" {
  count = length(local.peering.peers)

  route_table_id            = data.aws_route_table.target[count.index].id
  destination_cidr_block    = local.peering.vpc_cidr_block
  vpc_peering_connection_id = aws_vpc_peering_connection_accepter.kube[count.index].id
}
