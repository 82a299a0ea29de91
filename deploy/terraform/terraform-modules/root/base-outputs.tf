output "cloud_discovery_data" {
  value = {
    apiVersion = "deckhouse.io/v1"
    kind       = "AWSCloudDiscoveryData"
    keyName    = aws_key_pair.ssh.key_name
    instances = {
      ami                      = local.config.masterNodeGroup.instanceClass.ami
      additionalSecurityGroups = module.security-groups.additional_security_groups
      associatePublicIPAddress = local.nodes_are_public
      iamProfileName           = aws_iam_instance_profile.node.name
    }
    loadBalancerSecurityGroup = module.security-groups.load_balancer_security_group
    zones                     = local.effective_zones
    zoneToSubnetIdMap         = { for subnet in local.node_subnets : subnet.availability_zone => subnet.id }
  }

  precondition {
    condition     = local.config.layout == local.layout
    error_message = "layout is ${local.config.layout} in AWSClusterConfiguration, and this is the step of ${local.layout}."
  }
  precondition {
    condition     = length(local.effective_zones) > 0
    error_message = "No zone is left: zones has none of the region's (${join(", ", local.zones)})."
  }
  precondition {
    condition     = !local.ipv6 || try(length(module.vpc.ipv6_cidr_block) > 0, false)
    error_message = "ipv6 needs a VPC with an IPv6 block: existingVPCID has none."
  }
  precondition {
    condition     = try(var.ipv6.firstSubnet, 0) + local.parts <= 256
    error_message = "ipv6.firstSubnet leaves too little room: a VPC has 256 blocks, and the layout takes ${local.parts}."
  }
  precondition {
    condition     = length(local.etcd_disk_name) <= 63
    error_message = "disk name \"${local.etcd_disk_name}\" exceeds 63 characters (got ${length(local.etcd_disk_name)}); use a shorter cluster prefix"
  }
  precondition {
    condition     = try(local.config.masterNodeGroup.instanceClass.diskSizeGb, var.minMasterRootDiskGb) >= var.minMasterRootDiskGb
    error_message = "Root disk capacity: expected at least ${var.minMasterRootDiskGb}, but ${try(local.config.masterNodeGroup.instanceClass.diskSizeGb, 0)} is configured"
  }
}

output "subnet_plan" {
  description = "What subnetPlan must be for the subnets to stay where they are, whatever zones the region gets."
  value       = { zones = local.zones, slots = local.slots }
}
