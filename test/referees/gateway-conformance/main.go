// The conformance suite of the Gateway API as a program: its tests as they are, with another way to load balancers, whose names mean
// something in a simulated AWS alone. What the suite lets us choose goes through a proxy; connections that its tests open themselves find
// a load balancer by a name server of ours.
//
// CONFORMANCE_MANIFESTS names a folder with a base.yaml for Gateways that cannot have the suite's base. CONFORMANCE_UNREADY lists
// manifests of tests whose Gateways nobody is to wait for.
package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/gateway-api/conformance"
	"sigs.k8s.io/gateway-api/conformance/utils/kubernetes"
	"sigs.k8s.io/gateway-api/conformance/utils/roundtripper"
)

func main() {
	testing.Main(regexp.MatchString, []testing.InternalTest{{Name: "TestConformance", F: run}}, nil, nil)
}

func run(t *testing.T) {
	options := conformance.DefaultOptions(t)
	options.RoundTripper = &roundtripper.DefaultRoundTripper{
		Debug:             options.Debug,
		TimeoutConfig:     options.TimeoutConfig,
		CustomDialContext: dial,
	}
	if folder := os.Getenv("CONFORMANCE_MANIFESTS"); folder != "" {
		options.ManifestFS = append(options.ManifestFS, os.DirFS(folder))
		options.BaseManifests = "base.yaml"
	}
	for index, manifests := range options.ManifestFS {
		options.ManifestFS[index] = exempting{manifests, strings.Split(os.Getenv("CONFORMANCE_UNREADY"), ",")}
	}
	if server := os.Getenv("CONFORMANCE_NAMES"); server != "" {
		net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "udp", server)
		}}
	}
	conformance.RunConformanceWithOptions(t, options)
}

// exempting marks the Gateways of some manifests as the suite marks those of its own that are never ready.
type exempting struct {
	fs.FS
	unready []string
}

func (manifests exempting) ReadFile(name string) ([]byte, error) {
	text, err := fs.ReadFile(manifests.FS, name)
	if err != nil || !slices.Contains(manifests.unready, name) {
		return text, err
	}
	const head = "kind: Gateway\nmetadata:\n"
	return bytes.ReplaceAll(text, []byte(head), []byte(head+"  annotations: {"+kubernetes.GatewayExcludedFromReadinessChecks+": \"true\"}\n")), nil
}

// dial asks the proxy for a connection to a load balancer by its name.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, network, os.Getenv("CONFORMANCE_PROXY"))
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(connection, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", address, address)
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("dial %s: %s", address, answer.Status)
	}
	if err != nil {
		connection.Close()
		return nil, err
	}
	return connection, nil
}
