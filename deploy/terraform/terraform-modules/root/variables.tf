# What every step is given. What the reference's schema refuses is refused here too, because whoever runs the steps by hand has no installer.
variable "clusterConfiguration" {
  description = "ClusterConfiguration; only cloud.prefix is read."
  type        = any

  validation {
    condition     = can(regex("^.+$", var.clusterConfiguration.cloud.prefix))
    error_message = "clusterConfiguration.cloud.prefix is missing or empty: every resource is named after it."
  }
}

variable "clusterUUID" {
  description = "The UUID of the cluster, which marks its resources."
  type        = string

  validation {
    condition     = length(var.clusterUUID) > 0
    error_message = "clusterUUID is empty: it marks the resources of the cluster."
  }
}

variable "providerClusterConfiguration" {
  description = "AWSClusterConfiguration, a document of deckhouse.io/v1."
  type        = any

  validation {
    condition     = contains(["deckhouse.io/v1", "deckhouse.io/v1alpha1"], try(var.providerClusterConfiguration.apiVersion, "deckhouse.io/v1"))
    error_message = "apiVersion must be deckhouse.io/v1 or deckhouse.io/v1alpha1."
  }

  validation {
    condition     = try(var.providerClusterConfiguration.kind, "AWSClusterConfiguration") == "AWSClusterConfiguration"
    error_message = "kind must be AWSClusterConfiguration."
  }

  validation {
    condition     = contains(["WithoutNAT", "WithNAT", "Standard"], try(var.providerClusterConfiguration.layout, ""))
    error_message = "layout must be WithoutNAT, WithNAT or Standard."
  }

  validation {
    condition = length(setsubtract(keys(var.providerClusterConfiguration), [
      "apiVersion", "kind", "layout", "standard", "withoutNAT", "withNAT", "provider", "sshPublicKey", "vpcNetworkCIDR", "existingVPCID",
      "nodeNetworkCIDR", "zones", "tags", "sshAllowList", "publicNetworkAllowList", "disableDefaultSecurityGroup",
      "additionalRolePolicies", "iamNodeRole", "peeredVPCs", "masterNodeGroup", "nodeGroups",
    ])) == 0
    error_message = "AWSClusterConfiguration has a key that is not known; it has ${join(", ", keys(var.providerClusterConfiguration))}."
  }

  validation {
    condition = (
      length(setsubtract(keys(try(var.providerClusterConfiguration.standard, {})), [])) == 0 &&
      length(setsubtract(keys(try(var.providerClusterConfiguration.withoutNAT, {})), [])) == 0 &&
      length(setsubtract(keys(try(var.providerClusterConfiguration.withNAT, {})), ["bastionInstance"])) == 0
    )
    error_message = "standard and withoutNAT take no keys, and withNAT only bastionInstance."
  }

  validation {
    condition = try(var.providerClusterConfiguration.withNAT.bastionInstance, null) == null || try(
      length(setsubtract(keys(var.providerClusterConfiguration.withNAT.bastionInstance), ["zone", "instanceClass"])) == 0 &&
      length(setsubtract(keys(var.providerClusterConfiguration.withNAT.bastionInstance.instanceClass), [
        "instanceType", "ami", "additionalSecurityGroups", "diskType", "diskSizeGb",
      ])) == 0 &&
      can(regex("^.+$", var.providerClusterConfiguration.withNAT.bastionInstance.instanceClass.instanceType)) &&
      can(regex("^.+$", var.providerClusterConfiguration.withNAT.bastionInstance.instanceClass.ami)),
      false
    )
    error_message = "withNAT.bastionInstance takes zone and instanceClass, and that instanceType and ami (required), additionalSecurityGroups, diskType and diskSizeGb."
  }

  validation {
    condition = try(alltrue([
      for key in ["providerAccessKeyId", "providerSecretAccessKey", "region"] : can(regex("^.+$", var.providerClusterConfiguration.provider[key]))
    ]) && length(keys(var.providerClusterConfiguration.provider)) == 3, false)
    error_message = "provider must have exactly providerAccessKeyId, providerSecretAccessKey and region."
  }

  validation {
    condition     = !can(regex("-----? ?BEGIN", try(var.providerClusterConfiguration.sshPublicKey, "")))
    error_message = "wrong public key format: please convert it to openssh format using a command like ssh-keygen -i -f key.ssh2 > key.pub"
  }

  validation {
    condition = can(regex("-----? ?BEGIN", try(var.providerClusterConfiguration.sshPublicKey, ""))) || can(regex(
      "^(ssh-rsa AAAAB3NzaC1yc2E|ssh-dss AAAAB3NzaC1kc3M|ssh-ed25519 AAAAC3NzaC1lZDI1NTE5|ecdsa-sha2-nistp(256|384|521) AAAAE2VjZHNhLXNoYTItbmlzdHA|sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5|sk-ecdsa-sha2-nistp256@openssh.com AAAAInNrLWVjZHNhLXNoYTIt)[A-Za-z0-9+/]*={0,2}(\\s.*)?$",
      var.providerClusterConfiguration.sshPublicKey
    ))
    error_message = "failed to parse public key: sshPublicKey must be one line as in an OpenSSH authorized_keys file, like ssh-ed25519 AAAAC3NzaC1lZDI1NTE5..."
  }

  validation {
    condition = (try(var.providerClusterConfiguration.vpcNetworkCIDR, null) == null) != (
      try(var.providerClusterConfiguration.existingVPCID, null) == null
    )
    error_message = "Exactly one of vpcNetworkCIDR and existingVPCID must be given."
  }

  validation {
    condition     = try(cidrsubnet(var.providerClusterConfiguration.vpcNetworkCIDR, 0, 0) == var.providerClusterConfiguration.vpcNetworkCIDR, try(var.providerClusterConfiguration.vpcNetworkCIDR, null) == null)
    error_message = "Invalid vpcNetworkCIDR in AWSClusterConfiguration.${try(" Its network address is ${cidrsubnet(var.providerClusterConfiguration.vpcNetworkCIDR, 0, 0)}: use that.", "")}"
  }

  validation {
    condition     = try(cidrsubnet(var.providerClusterConfiguration.nodeNetworkCIDR, 0, 0) == var.providerClusterConfiguration.nodeNetworkCIDR, try(var.providerClusterConfiguration.nodeNetworkCIDR, null) == null)
    error_message = "Invalid nodeNetworkCIDR in AWSClusterConfiguration.${try(" Its network address is ${cidrsubnet(var.providerClusterConfiguration.nodeNetworkCIDR, 0, 0)}: use that.", "")}"
  }

  validation {
    condition     = alltrue([for cidr in try(var.providerClusterConfiguration.publicNetworkAllowList, []) : can(cidrnetmask(cidr))])
    error_message = "publicNetworkAllowList must be a list of IPv4 CIDRs."
  }

  validation {
    condition = alltrue([
      for zones in concat(
        [try(tolist(var.providerClusterConfiguration.zones), null), try(tolist(var.providerClusterConfiguration.masterNodeGroup.zones), null)],
        [for group in try(var.providerClusterConfiguration.nodeGroups, []) : try(tolist(group.zones), null)],
      ) : zones == null ? true : length(zones) > 0 && length(distinct(zones)) == length(zones)
    ])
    error_message = "zones, masterNodeGroup.zones and nodeGroups[].zones must have at least one zone, and each only once."
  }

  validation {
    condition     = alltrue([for action in try(var.providerClusterConfiguration.additionalRolePolicies, []) : can(regex("^[a-zA-Z0-9_\\-]+:[a-zA-Z0-9_\\-*?]+$", action))])
    error_message = "additionalRolePolicies must be IAM actions like ec2:DescribeVpcs or s3:Get*."
  }

  validation {
    condition     = can(regex("^[a-zA-Z0-9+=,.@_'-]{1,64}$", try(var.providerClusterConfiguration.iamNodeRole, "none")))
    error_message = "iamNodeRole must be the name of a role: 1 to 64 letters, digits and +=,.@-_'"
  }

  validation {
    condition = try(var.providerClusterConfiguration.masterNodeGroup.replicas >= 1, false) && try(
      length(setsubtract(keys(var.providerClusterConfiguration.masterNodeGroup), ["replicas", "instanceClass", "zones", "additionalTags"])) == 0,
      false
    )
    error_message = "masterNodeGroup must have replicas (at least 1) and instanceClass; zones and additionalTags are the only others."
  }

  validation {
    condition = try(length(setsubtract(keys(var.providerClusterConfiguration.masterNodeGroup.instanceClass), [
      "instanceType", "ami", "additionalSecurityGroups", "diskType", "diskSizeGb", "etcdDisk",
    ])) == 0, false) && can(regex("^.+$", var.providerClusterConfiguration.masterNodeGroup.instanceClass.instanceType)) && can(regex("^.+$", var.providerClusterConfiguration.masterNodeGroup.instanceClass.ami))
    error_message = "masterNodeGroup.instanceClass must have instanceType and ami; additionalSecurityGroups, diskType, diskSizeGb and etcdDisk are the only others."
  }

  validation {
    condition     = length(setsubtract(try(keys(var.providerClusterConfiguration.masterNodeGroup.instanceClass.etcdDisk), []), ["sizeGb", "type"])) == 0
    error_message = "masterNodeGroup.instanceClass.etcdDisk takes sizeGb and type."
  }

  validation {
    condition = alltrue([
      for group in try(var.providerClusterConfiguration.nodeGroups, []) : try(
        length(setsubtract(keys(group), ["name", "replicas", "instanceClass", "zones", "additionalTags", "nodeTemplate"])) == 0 &&
        length(setsubtract(keys(group.instanceClass), ["instanceType", "ami", "additionalSecurityGroups", "diskType", "diskSizeGb"])) == 0 &&
        can(regex("^.+$", group.name)) && group.replicas >= 0 &&
        can(regex("^.+$", group.instanceClass.instanceType)) && can(regex("^.+$", group.instanceClass.ami)),
        false
      )
    ])
    error_message = "Each of nodeGroups must have name, replicas and instanceClass with instanceType and ami; zones, additionalTags and nodeTemplate are the only others, and additionalSecurityGroups, diskType and diskSizeGb in instanceClass."
  }

  validation {
    condition = alltrue([
      for type in concat(
        [try(var.providerClusterConfiguration.masterNodeGroup.instanceClass.diskType, "gp3"), try(var.providerClusterConfiguration.withNAT.bastionInstance.instanceClass.diskType, "gp3")],
        [for group in try(var.providerClusterConfiguration.nodeGroups, []) : try(group.instanceClass.diskType, "gp3")],
      ) : contains(["gp3", "gp2", "io2", "io1", "st1", "sc1"], type)
    ])
    error_message = "diskType must be gp3, gp2, io2, io1, st1 or sc1."
  }
}

variable "subnetPlan" {
  description = "Opt-in. The zones in the order of their subnets, and for how many of them the range was divided: keeps subnets where they are when the region gets another zone. The output subnet_plan of base-infrastructure gives it."
  type        = object({ zones = list(string), slots = number })
  default     = null

  validation {
    condition     = var.subnetPlan == null ? true : length(var.subnetPlan.zones) > 0 && length(var.subnetPlan.zones) == length(distinct(var.subnetPlan.zones)) && length(var.subnetPlan.zones) <= var.subnetPlan.slots
    error_message = "subnetPlan.zones must be different zones, at least one and at most subnetPlan.slots."
  }
}

variable "providerSessionToken" {
  description = "Opt-in. The session token that belongs to temporary access keys."
  type        = string
  default     = null
  sensitive   = true
}

variable "assumeRoleARN" {
  description = "Opt-in. A role that the provider assumes with the access keys."
  type        = string
  default     = null
}

variable "encryptDisks" {
  description = "Opt-in. Encrypts the disks of instances and the etcd volumes; changing it replaces them."
  type        = bool
  default     = false
}

variable "requireIMDSv2" {
  description = "Opt-in. Instances answer metadata requests only with a session token."
  type        = bool
  default     = false
}
