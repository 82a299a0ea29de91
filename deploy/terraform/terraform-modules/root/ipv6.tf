# IPv6 beside IPv4: linked into every base-infrastructure.
variable "ipv6" {
  description = "Opt-in. Gives VPC, subnets and machines IPv6 addresses too. allowList: who may reach load balancers by IPv6. firstSubnet: which of the VPC's 256 blocks is the first, for an existing VPC in which others have some. Once on, it stays: the VPC would be changed before its subnets."
  type        = object({ allowList = optional(list(string), []), firstSubnet = optional(number, 0) })
  default     = null

  validation {
    condition     = var.ipv6 == null ? true : alltrue([for cidr in var.ipv6.allowList : strcontains(cidr, ":") && can(cidrhost(cidr, 0))])
    error_message = "ipv6.allowList must be a list of IPv6 CIDRs, like ::/0."
  }
  validation {
    condition     = var.ipv6 == null ? true : var.ipv6.firstSubnet >= 0 && var.ipv6.firstSubnet < 256 && floor(var.ipv6.firstSubnet) == var.ipv6.firstSubnet
    error_message = "ipv6.firstSubnet must be a whole number from 0 to 255."
  }
}

locals {
  ipv6 = var.ipv6 != null

  # A VPC has a /56 and a subnet a /64: 256 of them, in the order of the IPv4 ranges.
  ipv6_blocks = [for index in range(local.parts) : try(cidrsubnet(module.vpc.ipv6_cidr_block, 8, try(var.ipv6.firstSubnet, 0) + index), null)]
}

resource "aws_route" "internet_access_public_ipv6" {
  count = local.ipv6 ? 1 : 0

  route_table_id              = aws_route_table.kube_public.id
  destination_ipv6_cidr_block = "::/0"
  gateway_id                  = local.internet_gateway_id
}
