# The one provider block, linked into every root module.
provider "aws" {
  access_key = var.providerClusterConfiguration.provider.providerAccessKeyId
  secret_key = var.providerClusterConfiguration.provider.providerSecretAccessKey
  region     = var.providerClusterConfiguration.provider.region
  token      = var.providerSessionToken

  dynamic "assume_role" {
    for_each = var.assumeRoleARN == null ? [] : [var.assumeRoleARN]
    content {
      role_arn = assume_role.value
    }
  }
}
