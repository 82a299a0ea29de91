# What base-infrastructure is given besides.
variable "resourceManagementTimeout" {
  description = "How long creating, changing and deleting the bastion may take."
  type        = string
  default     = "10m"
}

variable "minMasterRootDiskGb" {
  description = "The smallest root disk that masters may be configured with; 0 for any."
  type        = number
  default     = 50
}

variable "adoptInternetGateway" {
  description = "Opt-in. Uses the internet gateway that existingVPCID has, in the place of a new one."
  type        = bool
  default     = false

  validation {
    condition     = !var.adoptInternetGateway || try(var.providerClusterConfiguration.existingVPCID, null) != null
    error_message = "adoptInternetGateway needs existingVPCID: a new VPC has no internet gateway."
  }
}

variable "skipUnusedNodeRole" {
  description = "Opt-in. Makes no role when iamNodeRole names one."
  type        = bool
  default     = false
}

variable "peeringAllRoutes" {
  description = "Opt-in. Routes to every range of a peered VPC in every route table, and back in every table of the peer."
  type        = bool
  default     = false
}

variable "nodePolicyStatements" {
  description = "Opt-in. Further statements of the node role's policy, each with the resources that its actions are allowed on; additionalRolePolicies allows everything."
  type        = list(object({ actions = list(string), resources = list(string) }))
  default     = []

  validation {
    condition     = alltrue([for statement in var.nodePolicyStatements : length(statement.actions) > 0 && length(statement.resources) > 0])
    error_message = "Each of nodePolicyStatements needs actions and resources."
  }
}
