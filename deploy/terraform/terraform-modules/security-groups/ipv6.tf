# The rules for IPv6: who may reach load balancers, and ask nodes whether they are there.
variable "ipv6" {
  description = "true: nodes may reach everything by IPv6."
  type        = bool
}

variable "ipv6_allow_list" {
  type = list(string)
}

locals {
  ipv6_rules = var.enabled && length(var.ipv6_allow_list) > 0 ? 1 : 0
}

resource "aws_security_group_rule" "to-node-icmpv6" {
  count = local.ipv6_rules

  type              = "ingress"
  security_group_id = aws_security_group.node[0].id
  ipv6_cidr_blocks  = var.ipv6_allow_list
  protocol          = "icmpv6"
  from_port         = -1
  to_port           = -1
}

resource "aws_security_group_rule" "ipv6-to-loadbalancer" {
  count = local.ipv6_rules

  type              = "ingress"
  security_group_id = aws_security_group.loadbalancer[0].id
  ipv6_cidr_blocks  = var.ipv6_allow_list
  protocol          = "-1"
  from_port         = 0
  to_port           = 65535
}
