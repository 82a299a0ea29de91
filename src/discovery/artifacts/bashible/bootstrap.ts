/**
 * What a machine runs before anything else of the platform: its host name becomes its `Name` tag, by which the controller manager knows its
 * Node. Tags are asked of EC2 with the role of the node; Python signs the request, because cloud-init brings it to every image, and because
 * keys on a command line could be read by every process of the machine.
 */
export const bootstrapNetworks = String.raw`#!/usr/bin/env bash
# Sets the host name to the Name tag of the instance, once.

fairlead_name_tag() {
  local python
  python="$(command -v python3 || command -v /usr/libexec/platform-python)" || {
    echo "set the host name: this image has no python3" >&2
    return 1
  }
  "$python" - <<'END_OF_PROGRAM'
import datetime, hashlib, hmac, json, re, sys, urllib.error, urllib.parse, urllib.request
import xml.etree.ElementTree as xml

METADATA = "http://169.254.169.254"
ENDPOINT = "https://ec2.%s.%s"
# The metadata service is never reached through a proxy.
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def metadata(path, token):
    request = urllib.request.Request(METADATA + path, headers={"X-aws-ec2-metadata-token": token})
    return direct.open(request, timeout=5).read().decode()


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def describe_tags(instance, region, domain, keys):
    endpoint = ENDPOINT % (region, domain)
    host = urllib.parse.urlsplit(endpoint).netloc
    query = "&".join(
        "%s=%s" % (name, urllib.parse.quote(value, safe="-_.~"))
        for name, value in sorted(
            [
                ("Action", "DescribeTags"),
                ("Filter.1.Name", "resource-id"),
                ("Filter.1.Value.1", instance),
                ("Filter.2.Name", "key"),
                ("Filter.2.Value.1", "Name"),
                ("Version", "2016-11-15"),
            ]
        )
    )
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    scope = "%s/%s/ec2/aws4_request" % (now[:8], region)
    headers = {"host": host, "x-amz-date": now, "x-amz-security-token": keys["Token"]}
    names = ";".join(sorted(headers))
    lines = "".join("%s:%s\n" % (name, headers[name]) for name in sorted(headers))
    canonical = "\n".join(["GET", "/", query, lines, names, digest("")])
    key = ("AWS4" + keys["SecretAccessKey"]).encode()
    for part in scope.split("/"):
        key = sign(key, part)
    signature = sign(key, "\n".join(["AWS4-HMAC-SHA256", now, scope, digest(canonical)])).hex()
    authorization = "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (keys["AccessKeyId"], scope, names, signature)
    request = urllib.request.Request(endpoint + "/?" + query, headers=dict(headers, Authorization=authorization))
    answer = xml.fromstring(urllib.request.urlopen(request, timeout=10).read())
    return [each.text or "" for each in answer.iter() if each.tag.rpartition("}")[2] == "value"]


def main():
    ask = urllib.request.Request(METADATA + "/latest/api/token", method="PUT", headers={"X-aws-ec2-metadata-token-ttl-seconds": "60"})
    token = direct.open(ask, timeout=5).read().decode()
    instance = metadata("/latest/meta-data/instance-id", token)
    region = metadata("/latest/meta-data/placement/region", token)
    domain = metadata("/latest/meta-data/services/domain", token)
    role = metadata("/latest/meta-data/iam/security-credentials/", token).split("\n")[0]
    keys = json.loads(metadata("/latest/meta-data/iam/security-credentials/" + role, token))
    names = describe_tags(instance, region, domain, keys)
    if not names:
        raise ValueError("instance %s has no tag Name, or its role may not call ec2:DescribeTags" % instance)
    if not re.match(r"^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$", names[0]):
        raise ValueError("tag Name of instance %s cannot be a host name: %r" % (instance, names[0]))
    print(names[0])


try:
    main()
except urllib.error.HTTPError as error:
    sys.exit("set the host name: %s answered %s" % (urllib.parse.urlsplit(error.url).netloc, error.code))
except Exception as error:
    sys.exit("set the host name: %s" % error)
END_OF_PROGRAM
}

fairlead_set_hostname() {
  # Misspelt, and known to the platform by this name.
  local marker=/var/lib/bashible/hosname-set-as-in-aws name attempt
  [ ! -e "$marker" ] || return 0
  for attempt in 1 2 3; do
    if name="$(fairlead_name_tag)"; then
      hostnamectl set-hostname "$name" || return 1
      mkdir -p /var/lib/bashible && touch "$marker"
      return
    fi
    [ "$attempt" = 3 ] || sleep 2
  done
  return 1
}

fairlead_set_hostname || exit 1
`;
