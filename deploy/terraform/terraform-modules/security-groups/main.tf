# The groups of nodes, load balancers and SSH. Except for the egress of nodes, every rule is a resource of its own.
locals {
  groups = var.enabled ? 1 : 0
  ssh    = var.enabled && length(var.ssh_allow_list) > 0 ? 1 : 0
}

resource "aws_security_group" "node" {
  count = local.groups

  name   = "${var.prefix}-node"
  vpc_id = var.vpc_id
  tags   = merge(var.tags, var.cluster_tags)

  egress {
    from_port   = 0
    to_port     = 0
    protocol    = "-1"
    cidr_blocks = ["0.0.0.0/0"]

    ipv6_cidr_blocks = var.ipv6 ? ["::/0"] : null
  }
}

resource "aws_security_group" "loadbalancer" {
  count = local.groups

  name   = "${var.prefix}-loadbalancer"
  vpc_id = var.vpc_id
  tags   = var.tags
}

resource "aws_security_group" "ssh-accessible" {
  count = local.ssh

  name   = "${var.prefix}-ssh-accessible"
  vpc_id = var.vpc_id
  tags   = var.tags
}

resource "aws_security_group_rule" "lb-to-node" {
  count = local.groups

  type                     = "ingress"
  security_group_id        = aws_security_group.node[0].id
  source_security_group_id = aws_security_group.loadbalancer[0].id
  protocol                 = "-1"
  from_port                = 0
  to_port                  = 65535
}

resource "aws_security_group_rule" "node-to-node" {
  count = local.groups

  type                     = "ingress"
  security_group_id        = aws_security_group.node[0].id
  source_security_group_id = aws_security_group.node[0].id
  protocol                 = "-1"
  from_port                = 0
  to_port                  = 65535
}

resource "aws_security_group_rule" "to-node-icmp" {
  count = local.groups

  type              = "ingress"
  security_group_id = aws_security_group.node[0].id
  cidr_blocks       = var.public_network_allow_list
  protocol          = "icmp"
  from_port         = -1
  to_port           = -1
}

resource "aws_security_group_rule" "allow-all-incoming-traffic-to-loadbalancer" {
  count = local.groups

  type              = "ingress"
  security_group_id = aws_security_group.loadbalancer[0].id
  cidr_blocks       = var.public_network_allow_list
  protocol          = "-1"
  from_port         = 0
  to_port           = 65535
}

resource "aws_security_group_rule" "allow-all-outgoing-traffic-to-nodes" {
  count = local.groups

  type                     = "egress"
  security_group_id        = aws_security_group.loadbalancer[0].id
  source_security_group_id = aws_security_group.node[0].id
  protocol                 = "-1"
  from_port                = 0
  to_port                  = 65535
}

resource "aws_security_group_rule" "allow-ssh-for-everyone" {
  count = local.ssh

  type              = "ingress"
  security_group_id = aws_security_group.ssh-accessible[0].id
  cidr_blocks       = var.ssh_allow_list
  protocol          = "tcp"
  from_port         = 22
  to_port           = 22
}
