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
