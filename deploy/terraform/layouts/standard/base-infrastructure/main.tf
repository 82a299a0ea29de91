# Standard: nodes stand in internal subnets and reach the Internet through a NAT gateway.
locals {
  layout = "Standard"
}

module "vpc-peering" {
  source = "../../../terraform-modules/vpc-peering"
  count  = length(local.peering.peers) > 0 ? 1 : 0

  peering = local.peering
}
