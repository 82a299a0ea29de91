# Services of AWS that machines reach without a way to the Internet: linked into every base-infrastructure.
variable "vpcEndpoints" {
  description = "Opt-in. Services of AWS that get an endpoint in the VPC: ec2, ecr.api, ecr.dkr, sts, elasticloadbalancing, s3, or whole names. s3, s3express and dynamodb are routes and cost nothing; each of the others costs per zone and hour."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for name in var.vpcEndpoints : can(regex("^[a-z0-9.-]+$", name))]) && length(distinct(var.vpcEndpoints)) == length(var.vpcEndpoints)
    error_message = "vpcEndpoints must be names of services like ec2 or com.amazonaws.eu-central-1.ec2, each only once."
  }
}

variable "vpcEndpointSecurityGroups" {
  description = "Opt-in. Security groups of the endpoints, which must let nodes in at port 443, in the place of the nodes' own group."
  type        = list(string)
  default     = []
}

locals {
  # In partitions with a domain of their own the names of some services begin with it, those of others do not, and no rule tells which:
  # `aws ec2 describe-vpc-endpoint-services` does. Services that are not listed here are given by their whole names.
  endpoint_domains = {
    cn   = { prefix = "cn.com.amazonaws", services = ["autoscaling", "cloudformation", "ebs", "ec2", "ecr.api", "ecr.dkr", "eks", "elasticfilesystem", "fsx", "lambda", "monitoring", "sqs", "sts"] }
    eusc = { prefix = "eu.amazonaws", services = ["ecr.api", "ecr.dkr"] }
  }
  endpoint_domain = try(local.endpoint_domains[split("-", local.config.provider.region)[0]], { prefix = "", services = [] })
  endpoint_names = {
    for name in var.vpcEndpoints : name => can(regex("^(com|cn\\.com)\\.amazonaws\\.", name)) || strcontains(name, ".${local.config.provider.region}.") ? name : join(".", [
      contains(local.endpoint_domain.services, name) ? local.endpoint_domain.prefix : "com.amazonaws", local.config.provider.region, name
    ])
  }

  gateway_names    = { for name, service in local.endpoint_names : name => service if can(regex("^com\\.amazonaws\\.[^.]+\\.(s3|s3express|dynamodb)$", service)) }
  interface_names  = { for name, service in local.endpoint_names : name => service if !contains(keys(local.gateway_names), name) }
  endpoint_groups  = length(var.vpcEndpointSecurityGroups) > 0 ? var.vpcEndpointSecurityGroups : module.security-groups.additional_security_groups
  endpoint_subnets = [for index, zone in local.zones : local.node_subnets[index].id if can(regex("^[a-z]+(-[a-z]+)+-[0-9]+[a-z]$", zone))]
}

resource "aws_vpc_endpoint" "gateway" {
  for_each = local.gateway_names

  vpc_id            = module.vpc.id
  service_name      = each.value
  vpc_endpoint_type = "Gateway"
  route_table_ids   = values(local.route_tables)
  tags              = merge(local.tags, { Name = "${local.prefix}-${each.key}" })
}

# One interface in each ordinary zone; Local and Wavelength Zones reach those.
resource "aws_vpc_endpoint" "interface" {
  for_each = local.interface_names

  vpc_id              = module.vpc.id
  service_name        = each.value
  vpc_endpoint_type   = "Interface"
  subnet_ids          = local.endpoint_subnets
  security_group_ids  = local.endpoint_groups
  private_dns_enabled = true
  tags                = merge(local.tags, { Name = "${local.prefix}-${each.key}" })

  lifecycle {
    precondition {
      condition     = length(var.vpcEndpointSecurityGroups) > 0 || !try(local.config.disableDefaultSecurityGroup, false)
      error_message = "vpcEndpoints with disableDefaultSecurityGroup needs vpcEndpointSecurityGroups: nothing else lets nodes in."
    }
  }
}
