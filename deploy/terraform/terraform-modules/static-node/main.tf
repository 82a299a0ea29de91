# A node of a permanent group.
locals {
  groups      = [for group in try(local.config.nodeGroups, []) : group if group.name == var.nodeGroupName]
  group       = local.groups[0]
  name        = "${local.prefix}-${var.nodeGroupName}-${var.nodeIndex}"
  accepts_ssh = var.acceptSSH
  zones       = sort(distinct(local.allowed_zones))
  instance    = aws_instance.node
}

variable "nodeGroupName" {
  type = string
}

variable "acceptSSH" {
  description = "true: the node gets the group that lets SSH in."
  type        = bool
}

resource "aws_instance" "node" {
  ami                         = local.instance_class.ami
  instance_type               = local.instance_class.instanceType
  key_name                    = local.prefix
  subnet_id                   = local.subnet_id
  vpc_security_group_ids      = local.security_groups
  associate_public_ip_address = var.public
  source_dest_check           = false
  iam_instance_profile        = "${local.prefix}-node"
  user_data                   = local.user_data
  tags                        = merge(local.node_tags, local.cluster_tags, { Name = local.name })

  root_block_device {
    volume_size = local.root_disk.size
    volume_type = local.root_disk.type
    encrypted   = var.encryptDisks ? true : null
    tags        = local.node_tags
  }

  dynamic "metadata_options" {
    for_each = var.requireIMDSv2 ? [1] : []
    content {
      http_endpoint               = "enabled"
      http_tokens                 = "required"
      http_put_response_hop_limit = 2
    }
  }

  timeouts {
    create = var.resourceManagementTimeout
    delete = var.resourceManagementTimeout
    update = var.resourceManagementTimeout
  }

  lifecycle {
    ignore_changes = [
      user_data,
      user_data_replace_on_change,
      ebs_optimized,
      volume_tags,
      root_block_device[0].tags_all,
    ]

    precondition {
      condition     = local.config.layout == var.layout
      error_message = "layout is ${local.config.layout} in AWSClusterConfiguration, and this is the step of ${var.layout}."
    }
    precondition {
      condition     = length(local.zones) > 0
      error_message = "No zone is left for node group ${var.nodeGroupName}: zones and its own zones have none in common with the region (${join(", ", local.region_zones)})."
    }
    precondition {
      condition     = local.subnet_id != null || length(local.zones) == 0
      error_message = "There is no subnet of this cluster in zone ${local.zone}: run base-infrastructure first."
    }
  }
}
