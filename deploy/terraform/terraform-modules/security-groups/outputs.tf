output "additional_security_groups" {
  value = aws_security_group.node[*].id
}

output "load_balancer_security_group" {
  value = join("", aws_security_group.loadbalancer[*].id)
}

output "security_group_id_node" {
  value = join("", aws_security_group.node[*].id)
}

output "security_group_id_ssh_accessible" {
  value = join("", aws_security_group.ssh-accessible[*].id)
}
