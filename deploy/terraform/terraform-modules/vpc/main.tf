# The VPC of the cluster: a new one, or one that is there already.
resource "aws_vpc" "kube" {
  count = var.existing_vpc_id == null ? 1 : 0

  cidr_block           = var.cidr_block
  enable_dns_hostnames = true
  tags                 = merge(var.tags, { Name = var.prefix })

  assign_generated_ipv6_cidr_block = var.ipv6 ? true : null
}

data "aws_vpc" "kube" {
  count = var.existing_vpc_id == null ? 0 : 1

  id = var.existing_vpc_id
}
