variable "nodeGroupName" {
  description = "Which of nodeGroups the node belongs to."
  type        = string

  validation {
    condition     = contains([for group in try(var.providerClusterConfiguration.nodeGroups, []) : group.name], var.nodeGroupName)
    error_message = "nodeGroups has no group ${var.nodeGroupName}."
  }
}
