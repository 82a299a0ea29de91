// Prints, for every combination of the environment below, where the AWS SDK for Go gets its credentials from: one letter
// per combination, in the order of the loops. See src/aws/testing/credential-matrix.ts, which plays the same matrix.
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
)

func main() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys := func(id string) {
			fmt.Fprintf(w, `{"Code":"Success","AccessKeyId":%q,"SecretAccessKey":"s","Token":"t","Expiration":"2099-01-01T00:00:00Z"}`, id)
		}
		switch {
		case r.URL.Path == "/latest/api/token":
			w.Header().Set("x-aws-ec2-metadata-token-ttl-seconds", "300")
			fmt.Fprint(w, "token")
		case strings.HasSuffix(r.URL.Path, "/security-credentials/"):
			fmt.Fprint(w, "role")
		case strings.HasSuffix(r.URL.Path, "/security-credentials/role"):
			keys("I")
		case r.URL.Path == "/relative":
			keys("R")
		case r.URL.Path == "/full":
			keys("F")
		default:
			fmt.Fprint(w, `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>W</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`)
		}
	}))
	dir, _ := os.MkdirTemp("", "chain")
	token := filepath.Join(dir, "token")
	os.WriteFile(token, []byte("token"), 0o600)
	file := func(name, text string) map[string]string {
		path := filepath.Join(dir, name)
		os.WriteFile(path, []byte(text), 0o600)
		return map[string]string{"AWS_SHARED_CREDENTIALS_FILE": path, "AWS_CONFIG_FILE": filepath.Join(dir, "none")}
	}
	both := func(path string) map[string]string {
		return map[string]string{"AWS_SHARED_CREDENTIALS_FILE": path, "AWS_CONFIG_FILE": path}
	}
	type m = map[string]string
	dimensions := [][]m{
		{{}, {"AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "s"}, {"AWS_ACCESS_KEY_ID": "E"}, {"AWS_ACCESS_KEY": "E", "AWS_SECRET_KEY": "s"}},
		{{}, {"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/r"}, {"AWS_WEB_IDENTITY_TOKEN_FILE": token}, {"AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/r"}},
		{{}, {"AWS_PROFILE": "named"}, {"AWS_PROFILE": "missing"}, {"AWS_DEFAULT_PROFILE": "named"}, {"AWS_PROFILE": "named", "AWS_DEFAULT_PROFILE": "missing"}},
		{
			both(filepath.Join(dir, "none")),
			file("keys", "[default] # comment\naws_access_key_id = D ; comment\naws_secret_access_key = s # comment\n[named]\naws_access_key_id: N\nAWS_SECRET_ACCESS_KEY = \"s#\"\n"),
			file("region", "[default]\nregion = us-east-1\n[named]\nregion = us-east-1\n"),
			file("partial", "[default]\naws_access_key_id = D\n[named]\naws_secret_access_key = s\n"),
			both(filepath.Join(token, "below-a-file")),
			both(dir),
		},
		{{}, {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/relative"}, {"AWS_CONTAINER_CREDENTIALS_FULL_URI": server.URL + "/full"}, {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/relative", "AWS_CONTAINER_CREDENTIALS_FULL_URI": server.URL + "/full"}},
		{{}, {"AWS_EC2_METADATA_DISABLED": "true"}},
	}
	var play func(depth int, environment m)
	play = func(depth int, environment m) {
		if depth < len(dimensions) {
			for _, choice := range dimensions[depth] {
				next := m{}
				for k, v := range environment {
					next[k] = v
				}
				for k, v := range choice {
					next[k] = v
				}
				play(depth+1, next)
			}
			return
		}
		for _, entry := range os.Environ() {
			if strings.HasPrefix(entry, "AWS_") {
				os.Unsetenv(strings.SplitN(entry, "=", 2)[0])
			}
		}
		for k, v := range environment {
			os.Setenv(k, v)
		}
		os.Setenv("AWS_REGION", "us-east-1")
		os.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.URL)
		os.Setenv("AWS_ENDPOINT_URL_STS", server.URL)
		os.Setenv("AWS_MAX_ATTEMPTS", "1")
		fmt.Print(source())
	}
	os.Setenv("HTTP_PROXY", server.URL) // The relative URI is at 169.254.170.2, which only a proxy can stand in for.
	play(0, m{})
	fmt.Println()
}

func source() string {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		return "x"
	}
	credentials, err := cfg.Credentials.Retrieve(context.Background())
	if err != nil {
		return "x"
	}
	return credentials.AccessKeyID
}
