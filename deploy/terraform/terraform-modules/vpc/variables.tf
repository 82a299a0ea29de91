variable "prefix" {
  type = string
}

variable "existing_vpc_id" {
  type    = string
  default = null
}

variable "cidr_block" {
  type    = string
  default = null
}

variable "tags" {
  type = map(string)
}

variable "ipv6" {
  description = "true: a new VPC gets a block of Amazon's IPv6 addresses."
  type        = bool
}
