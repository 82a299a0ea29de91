# WithoutNAT: nodes stand in public subnets and have public addresses.
locals {
  layout            = "WithoutNAT"
  subnets_per_zone  = 1
  nodes_are_public  = true
  node_subnets      = aws_subnet.kube_public
  public_table_tags = local.cluster_tags
  route_tables      = { public = aws_route_table.kube_public.id }
}

module "vpc-peering" {
  source = "../../../terraform-modules/vpc-peering"
  count  = length(try(local.config.peeredVPCs, [])) > 0 ? 1 : 0

  peering = {
    peers          = local.config.peeredVPCs
    prefix         = local.prefix
    region         = local.config.provider.region
    tags           = local.tags
    vpc_id         = module.vpc.id
    vpc_cidr_block = module.vpc.cidr_block
    route_table_id = aws_route_table.kube_public.id
    first_table    = "public"
    route_tables   = local.route_tables
    all_routes     = var.peeringAllRoutes
  }
}
