locals {
  instance = aws_instance.master
}

variable "bastion" {
  description = "true: SSH goes through the bastion, and masters do without the group that lets it in."
  type        = bool
}

variable "ownZonesOnly" {
  description = "true: only masterNodeGroup.zones restricts masters, as the reference does it in WithoutNAT."
  type        = bool
}
