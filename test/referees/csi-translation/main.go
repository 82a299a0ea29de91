// Translates objects from before CSI as Kubernetes' own library does.
// Standard input holds a JSON list of {kind, object}; standard output gets a JSON list of {error, object}.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"

	v1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	translation "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"
)

type question struct {
	Kind   string          `json:"kind"`
	Object json.RawMessage `json:"object"`
}

type answer struct {
	Error  string `json:"error,omitempty"`
	Object any    `json:"object,omitempty"`
}

func main() {
	var questions []question
	if err := json.NewDecoder(os.Stdin).Decode(&questions); err != nil {
		log.Fatal(err)
	}
	answers := []answer{}
	for _, q := range questions {
		object, err := translate(q)
		if err != nil {
			answers = append(answers, answer{Error: err.Error()})
		} else {
			answers = append(answers, answer{Object: object})
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		log.Fatal(err)
	}
}

func translate(q question) (any, error) {
	translator := translation.New()
	switch q.Kind {
	case "class":
		object := &storage.StorageClass{}
		if err := json.Unmarshal(q.Object, object); err != nil {
			return nil, err
		}
		return translator.TranslateInTreeStorageClassToCSI(klog.Background(), "kubernetes.io/aws-ebs", object)
	case "volume", "in-tree":
		object := &v1.PersistentVolume{}
		if err := json.Unmarshal(q.Object, object); err != nil {
			return nil, err
		}
		if q.Kind == "volume" {
			return translator.TranslateInTreePVToCSI(klog.Background(), object)
		}
		return translator.TranslateCSIPVToInTree(object)
	case "inline":
		object := &v1.Volume{}
		if err := json.Unmarshal(q.Object, object); err != nil {
			return nil, err
		}
		return translator.TranslateInTreeInlineVolumeToCSI(klog.Background(), object, "default")
	}
	return nil, fmt.Errorf("unknown kind %q", q.Kind)
}
