# The Elastic IP address of a node in a public subnet: linked into both modules of nodes, which name their instance in local.instance.
data "aws_availability_zone" "node" {
  count = var.public ? 1 : 0

  name = local.instance.availability_zone
}

resource "aws_eip" "eip" {
  count = var.public ? 1 : 0

  domain               = "vpc"
  network_border_group = data.aws_availability_zone.node[0].network_border_group
  tags                 = merge(local.node_tags, { Name = local.name })

  lifecycle {
    ignore_changes = [network_border_group]
  }
}

resource "aws_eip_association" "eip" {
  count = var.public ? 1 : 0

  allocation_id = aws_eip.eip[0].id
  instance_id   = local.instance.id
}
