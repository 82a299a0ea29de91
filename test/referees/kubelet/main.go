// Kubelet's own half of the credential provider contract, without the kubelet: registers the plugins of a configuration
// and looks images up, exactly as kubelet does before it pulls. Prints one JSON object an image.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/credentialprovider/plugin"
)

type found struct {
	Image       string  `json:"image"`
	Credentials []login `json:"credentials"`
}

type login struct {
	Username string `json:"username"`
	Password string `json:"password"`
	// The service account that kubelet attributes the credentials to; empty for node-wide ones.
	ServiceAccount string `json:"serviceAccount,omitempty"`
}

func main() {
	config := flag.String("config", "", "CredentialProviderConfig file")
	bin := flag.String("bin", "", "folder of the plugins")
	token := flag.String("token", "", "token the API server would give for the pod's service account")
	role := flag.String("role", "", "value of the service account's annotation eks.amazonaws.com/ecr-role-arn")
	flag.Parse()

	getToken := func(string, string, *authenticationv1.TokenRequest) (*authenticationv1.TokenRequest, error) {
		return &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{Token: *token}}, nil
	}
	getServiceAccount := func(namespace, name string) (*corev1.ServiceAccount, error) {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "account-uid"}}
		if *role != "" {
			account.Annotations = map[string]string{"eks.amazonaws.com/ecr-role-arn": *role}
		}
		return account, nil
	}
	if err := plugin.RegisterCredentialProviderPlugins(*config, *bin, getToken, getServiceAccount); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}

	keyring := plugin.NewExternalCredentialProviderDockerKeyring("team-a", "pod", "pod-uid", "builder")
	for _, image := range flag.Args() {
		answer := found{Image: image, Credentials: []login{}}
		configs, _ := keyring.Lookup(image)
		for _, config := range configs {
			one := login{Username: config.Username, Password: config.Password}
			if config.Source != nil && config.Source.ServiceAccount != nil {
				one.ServiceAccount = config.Source.ServiceAccount.Name
			}
			answer.Credentials = append(answer.Credentials, one)
		}
		if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
			os.Exit(1)
		}
	}
}
