// Reads texts as Go's standard library does, which is what pflag reads flags with.
// Standard input holds a JSON list of {kind, text}; standard output gets a JSON list of {error, value, shown}.
package main

import (
	"encoding/csv"
	"encoding/json"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

type question struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

type answer struct {
	Error string `json:"error,omitempty"`
	Value any    `json:"value"`
	Shown string `json:"shown,omitempty"`
}

func main() {
	var questions []question
	if err := json.NewDecoder(os.Stdin).Decode(&questions); err != nil {
		log.Fatal(err)
	}
	answers := []answer{}
	for _, q := range questions {
		value, shown, err := read(q)
		a := answer{Value: value, Shown: shown}
		if err != nil {
			a = answer{Error: err.Error()}
		}
		answers = append(answers, a)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		log.Fatal(err)
	}
}

func read(q question) (any, string, error) {
	switch q.Kind {
	case "bool":
		value, err := strconv.ParseBool(q.Text)
		return value, "", err
	case "int32":
		value, err := strconv.ParseInt(q.Text, 0, 32)
		return value, "", err
	case "int":
		value, err := strconv.ParseInt(q.Text, 0, 64)
		return strconv.FormatInt(value, 10), "", err
	case "float":
		value, err := strconv.ParseFloat(q.Text, 64)
		return strconv.FormatFloat(value, 'g', -1, 64), "", err
	case "duration":
		value, err := time.ParseDuration(q.Text)
		return strconv.FormatInt(int64(value), 10), value.String(), err
	case "ip":
		value := net.ParseIP(strings.TrimSpace(q.Text))
		return value != nil || strings.TrimSpace(q.Text) == "", "", nil
	case "strings":
		if q.Text == "" {
			return []string{}, "", nil
		}
		value, err := csv.NewReader(strings.NewReader(q.Text)).Read()
		return value, "", err
	case "quote":
		return strconv.Quote(q.Text), "", nil
	}
	log.Fatalf("unknown kind %q", q.Kind)
	return nil, "", nil
}
