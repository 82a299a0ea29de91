# A control-plane node with its etcd volume.
locals {
  group       = local.config.masterNodeGroup
  name        = "${local.prefix}-master-${var.nodeIndex}"
  accepts_ssh = !var.bastion

  zones = sort(distinct(var.ownZonesOnly ? try(local.group.zones, local.region_zones) : local.allowed_zones))

  etcd_disk = {
    size = try(local.instance_class.etcdDisk.sizeGb, 20)
    type = try(local.instance_class.etcdDisk.type, "gp3")
  }
}

resource "aws_ebs_volume" "kubernetes_data" {
  availability_zone = local.zone
  size              = local.etcd_disk.size
  type              = local.etcd_disk.type
  encrypted         = var.encryptDisks ? true : null
  tags              = merge(local.node_tags, { Name = "${local.prefix}-kubernetes-data-${var.nodeIndex}" })

  timeouts {
    create = var.resourceManagementTimeout
    delete = var.resourceManagementTimeout
    update = var.resourceManagementTimeout
  }

  lifecycle {
    precondition {
      condition     = local.config.layout == var.layout
      error_message = "layout is ${local.config.layout} in AWSClusterConfiguration, and this is the step of ${var.layout}."
    }
    precondition {
      condition     = length(local.zones) > 0
      error_message = "No zone is left for masters: zones and masterNodeGroup.zones have none in common with the region (${join(", ", local.region_zones)})."
    }
    precondition {
      condition     = local.subnet_id != null || length(local.zones) == 0
      error_message = "There is no subnet of this cluster in zone ${local.zone}: run base-infrastructure first, or correct masterNodeGroup.zones."
    }
  }
}

resource "aws_instance" "master" {
  ami                    = local.instance_class.ami
  instance_type          = local.instance_class.instanceType
  key_name               = local.prefix
  subnet_id              = local.subnet_id
  vpc_security_group_ids = local.security_groups
  source_dest_check      = false
  iam_instance_profile   = "${local.prefix}-node"
  user_data              = local.user_data
  tags                   = merge(local.node_tags, local.cluster_tags, { Name = local.name })

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
  }
}

resource "aws_volume_attachment" "kubernetes_data" {
  device_name  = "/dev/xvdf"
  volume_id    = aws_ebs_volume.kubernetes_data.id
  instance_id  = aws_instance.master.id
  skip_destroy = true
}
