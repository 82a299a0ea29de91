variable "prefix" {
  type = string
}

variable "vpc_id" {
  type = string
}

variable "enabled" {
  description = "false: none of the three groups is made."
  type        = bool
}

variable "ssh_allow_list" {
  type = list(string)
}

variable "public_network_allow_list" {
  type = list(string)
}

variable "tags" {
  type = map(string)
}

variable "cluster_tags" {
  type = map(string)
}
