variable "peering" {
  description = "What main.tf reads as local.peering."
  type = object({
    peers          = list(string)
    prefix         = string
    region         = string
    tags           = map(string)
    vpc_id         = string
    vpc_cidr_block = string
    # The table that always gets the routes, by id; it is the one named first_table below.
    route_table_id = string
    first_table    = string
    # Every table of ours by a name that is known before it exists.
    route_tables = map(string)
    all_routes   = bool
  })
}

locals {
  peering = var.peering
}
