// Package gitops runs the libraries of GitOps tools on our resources, and compares the results with those of test/gitops
// in situations.json. `pnpm test:gitops` writes that file first, with the simulator.
package gitops

import (
	"encoding/json"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const root = "../../../"

// situation is a Rollout as a watch delivered it, with the expected result of each tool.
type situation struct {
	Standing string
	Rollout  unstructured.Unstructured
	Argo     struct{ Status, Message string }
	ArgoOwn  string
	Actions  []string
	Kstatus  string
	Flux     string
}

// forEach runs a test for every situation.
func forEach(t *testing.T, judge func(t *testing.T, one situation)) {
	t.Helper()
	text, err := os.ReadFile(root + "node_modules/.cache/gitops/situations.json")
	if err != nil {
		t.Fatalf("run pnpm test:gitops, which plays the situations first: %v", err)
	}
	var all []situation
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("there is no situation")
	}
	for _, one := range all {
		t.Run(one.Standing, func(t *testing.T) { judge(t, one) })
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(root + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
