# What the steps of nodes are given besides.
variable "nodeIndex" {
  description = "Which node of its group, from 0."
  type        = number

  validation {
    condition     = var.nodeIndex >= 0 && floor(var.nodeIndex) == var.nodeIndex
    error_message = "nodeIndex must be a whole number from 0."
  }
}

variable "cloudConfig" {
  description = "User data in base64; empty for none, as the first master has it."
  type        = any
  default     = ""
  # It brings the token by which a node joins: no message shows it.
  sensitive = true

  validation {
    condition     = var.cloudConfig == "" || can(base64decode(var.cloudConfig))
    error_message = "cloudConfig must be text in base64."
  }
}

variable "resourceManagementTimeout" {
  description = "How long creating, changing and deleting an instance or the etcd volume may take."
  type        = string
  default     = "10m"
}

variable "rootDiskDefaults" {
  description = "Opt-in. The root disk of nodes whose class says nothing of it, in the place of the layout's default."
  type        = object({ sizeGb = number, type = string })
  default     = null
}
