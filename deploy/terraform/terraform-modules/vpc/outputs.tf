output "id" {
  value = one(concat(aws_vpc.kube[*].id, data.aws_vpc.kube[*].id))
}

output "cidr_block" {
  value = one(concat(aws_vpc.kube[*].cidr_block, data.aws_vpc.kube[*].cidr_block))
}

output "ipv6_cidr_block" {
  value = one(concat(aws_vpc.kube[*].ipv6_cidr_block, data.aws_vpc.kube[*].ipv6_cidr_block))
}
