# peeringAllRoutes: routes to every range of a peer in every table of ours, and back in every table of the peer.
data "aws_route_tables" "target" {
  count = local.peering.all_routes ? length(local.peering.peers) : 0

  vpc_id = local.peering.peers[count.index]
}

locals {
  peering_numbers = local.peering.all_routes ? range(length(local.peering.peers)) : []

  # By table, peer and range; the route that aws_route.kube makes is left out.
  peering_more_routes = merge([
    for number in local.peering_numbers : merge([
      for table in keys(local.peering.route_tables) : {
        for association in data.aws_vpc.target[number].cidr_block_associations :
        "${table} ${local.peering.peers[number]} ${association.cidr_block}" => {
          peer  = number
          table = table
          cidr  = association.cidr_block
        }
        if table != local.peering.first_table || association.cidr_block != data.aws_vpc.target[number].cidr_block
      }
    ]...)
  ]...)

  # By table of the peer; the one of aws_route.target is left out.
  peering_more_returns = merge([
    for number in local.peering_numbers : {
      for table in data.aws_route_tables.target[number].ids : table => number if table != data.aws_route_table.target[number].id
    }
  ]...)
}

resource "aws_route" "kube_more" {
  for_each = local.peering_more_routes

  route_table_id            = local.peering.route_tables[each.value.table]
  destination_cidr_block    = each.value.cidr
  vpc_peering_connection_id = aws_vpc_peering_connection_accepter.kube[each.value.peer].id
}

resource "aws_route" "target_more" {
  for_each = local.peering_more_returns

  route_table_id            = each.key
  destination_cidr_block    = local.peering.vpc_cidr_block
  vpc_peering_connection_id = aws_vpc_peering_connection_accepter.kube[each.value].id
}
