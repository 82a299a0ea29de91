# WithNAT: as Standard, with a bastion for SSH if one is asked for.
locals {
  layout  = "WithNAT"
  bastion = try(local.config.withNAT.bastionInstance, null)

  bastion_zone = try(local.bastion.zone, local.effective_zones[0], "")
  bastion_groups = concat(
    compact([module.security-groups.security_group_id_node, module.security-groups.security_group_id_ssh_accessible]),
    try(local.bastion.instanceClass.additionalSecurityGroups, []),
  )
}

variable "bastionCloudConfig" {
  description = "Opt-in. User data of the bastion in base64."
  type        = string
  default     = ""
  sensitive   = true

  validation {
    condition     = var.bastionCloudConfig == "" || can(base64decode(var.bastionCloudConfig))
    error_message = "bastionCloudConfig must be text in base64."
  }
}

variable "tagBastionDisk" {
  description = "Opt-in. Tags the bastion's disk like the bastion."
  type        = bool
  default     = false
}

resource "aws_instance" "bastion" {
  count = local.bastion == null ? 0 : 1

  ami                    = local.bastion.instanceClass.ami
  instance_type          = local.bastion.instanceClass.instanceType
  key_name               = aws_key_pair.ssh.key_name
  subnet_id              = lookup({ for subnet in aws_subnet.kube_public : subnet.availability_zone => subnet.id }, local.bastion_zone, null)
  vpc_security_group_ids = local.bastion_groups
  source_dest_check      = false
  iam_instance_profile   = aws_iam_instance_profile.node.name
  user_data              = nonsensitive(var.bastionCloudConfig == "") ? null : base64decode(var.bastionCloudConfig)
  tags                   = merge(local.tags, { Name = "${local.prefix}-bastion" })

  root_block_device {
    volume_size = try(local.bastion.instanceClass.diskSizeGb, 20)
    volume_type = try(local.bastion.instanceClass.diskType, "gp2")
    encrypted   = var.encryptDisks ? true : null
    tags        = var.tagBastionDisk ? merge(local.tags, { Name = "${local.prefix}-bastion" }) : null
  }

  dynamic "metadata_options" {
    for_each = var.requireIMDSv2 ? [1] : []
    content {
      http_endpoint = "enabled"
      http_tokens   = "required"
    }
  }

  timeouts {
    create = var.resourceManagementTimeout
    delete = var.resourceManagementTimeout
    update = var.resourceManagementTimeout
  }

  lifecycle {
    ignore_changes = [ebs_optimized]

    precondition {
      condition     = contains(local.zones, local.bastion_zone)
      error_message = "There is no subnet for the bastion in zone ${local.bastion_zone}: use one of ${join(", ", local.zones)}."
    }
  }
}

resource "aws_eip" "bastion" {
  count = local.bastion == null ? 0 : 1

  domain = "vpc"
  tags   = merge(local.tags, { Name = "${local.prefix}-bastion" })
}

resource "aws_eip_association" "bastion" {
  count = local.bastion == null ? 0 : 1

  instance_id   = aws_instance.bastion[0].id
  allocation_id = aws_eip.bastion[0].id

  depends_on = [aws_internet_gateway.kube]
}

output "bastion_ip_address_for_ssh" {
  value = join("", aws_eip.bastion[*].public_ip)
}
