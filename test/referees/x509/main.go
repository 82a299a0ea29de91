// Verifies chains of client certificates with Go's crypto/x509, as the reference does.
// It reads a JSON list of {authorities, sent, atMs} from standard input and prints a JSON list of verdicts.
package main

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"log"
	"os"
	"time"
)

type chain struct {
	Authorities string `json:"authorities"`
	Sent        string `json:"sent"`
	AtMs        int64  `json:"atMs"`
}

func main() {
	var chains []chain
	if err := json.NewDecoder(os.Stdin).Decode(&chains); err != nil {
		log.Fatal(err)
	}
	verdicts := []string{}
	for _, c := range chains {
		verdicts = append(verdicts, verdict(c))
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		log.Fatal(err)
	}
}

// verdict is "ok", or what Go has against the chain.
func verdict(c chain) string {
	roots, intermediates := x509.NewCertPool(), x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(c.Authorities))
	block, rest := pem.Decode([]byte(c.Sent))
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return err.Error()
	}
	intermediates.AppendCertsFromPEM(rest)
	_, err = leaf.Verify(x509.VerifyOptions{
		Roots:         roots,
		Intermediates: intermediates,
		CurrentTime:   time.UnixMilli(c.AtMs),
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return err.Error()
	}
	return "ok"
}
