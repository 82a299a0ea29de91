// The conformance suite of the Gateway API as a program: its tests as they are, with the way to load balancers by a proxy, because
// their names mean something in a simulated AWS alone.
package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"testing"

	"sigs.k8s.io/gateway-api/conformance"
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
	conformance.RunConformanceWithOptions(t, options)
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
