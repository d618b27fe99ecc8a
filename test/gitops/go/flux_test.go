package gitops

import (
	"context"
	"testing"

	fluxstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"
)

func TestKstatusSaysWhatTheTableSays(t *testing.T) {
	forEach(t, func(t *testing.T, one situation) {
		expectKstatus(t, &one.Rollout, one.Kstatus)
	})
}

// Why a DaemonSet is no object to wait for while it is on OnDelete.
func TestKstatusWaitsForTheLastNodeOfADaemonSetOnOnDelete(t *testing.T) {
	daemonSet := func(updated int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps/v1",
			"kind":       "DaemonSet",
			"metadata":   map[string]any{"name": "node-agent", "generation": int64(2)},
			"spec":       map[string]any{"updateStrategy": map[string]any{"type": "OnDelete"}},
			"status": map[string]any{
				"observedGeneration":     int64(2),
				"desiredNumberScheduled": int64(6),
				"currentNumberScheduled": int64(6),
				"updatedNumberScheduled": updated,
				"numberAvailable":        int64(6),
				"numberReady":            int64(6),
			},
		}}
	}
	expectKstatus(t, daemonSet(5), "InProgress")
	expectKstatus(t, daemonSet(6), "Current")
}

func TestExpressionsOfTheExampleSayWhatTheTableSays(t *testing.T) {
	example := kustomization(t, "repository/clusters/production/flux/node-agent.yaml")
	evaluator, err := cel.NewStatusEvaluator(&example.Spec.HealthCheckExprs[0].HealthCheckExpressions)
	if err != nil {
		t.Fatal(err)
	}
	forEach(t, func(t *testing.T, one situation) {
		result, err := evaluator.Evaluate(context.Background(), &one.Rollout)
		got := "error"
		if err == nil {
			got = result.Status.String()
		}
		if got != one.Flux {
			t.Errorf("got %s (%v), want %s", got, err, one.Flux)
		}
	})
}

func TestKustomizationsHaveOnlyFieldsThatFluxKnows(t *testing.T) {
	agent := kustomization(t, "repository/clusters/production/flux/node-agent.yaml")
	if len(agent.Spec.HealthChecks) != 1 || agent.Spec.HealthChecks[0].Kind != "Rollout" || agent.Spec.Timeout == nil {
		t.Errorf("it waits for %v", agent.Spec.HealthChecks)
	}
	if vendor := kustomization(t, "vendor/flux.yaml"); len(vendor.Spec.Patches) != 1 {
		t.Errorf("it has the patches %v", vendor.Spec.Patches)
	}
}

func kustomization(t *testing.T, path string) kustomizev1.Kustomization {
	t.Helper()
	var example kustomizev1.Kustomization
	if err := yaml.UnmarshalStrict([]byte(read(t, "examples/gitops/"+path)), &example); err != nil {
		t.Fatal(err)
	}
	return example
}

// Flux has a kstatus of its own, which is to say the same.
func expectKstatus(t *testing.T, object *unstructured.Unstructured, want string) {
	t.Helper()
	ours, err := status.Compute(object)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := fluxstatus.Compute(object)
	if err != nil {
		t.Fatal(err)
	}
	if ours.Status.String() != want || theirs.Status.String() != want {
		t.Errorf("kstatus says %s and Flux's %s, want %s: %s", ours.Status, theirs.Status, want, ours.Message)
	}
}
