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

// The reason for which Flux needs an expression to wait for a DaemonSet on OnDelete.
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
	evaluator := evaluatorOf(t, "Rollout")
	forEach(t, func(t *testing.T, one situation) {
		expectVerdict(t, evaluator, &one.Rollout, one.Flux)
	})
}

func TestADaemonSetIsCurrentOnceANodeRunsTheTemplateAndFailedWhileItGoesBack(t *testing.T) {
	evaluator := evaluatorOf(t, "DaemonSet")
	for _, one := range []struct {
		name        string
		annotations map[string]any
		status      map[string]any
		want        string
	}{
		{"applied", nil, map[string]any{"observedGeneration": int64(1), "desiredNumberScheduled": int64(6), "updatedNumberScheduled": int64(6)}, "InProgress"},
		{"observed", nil, map[string]any{"observedGeneration": int64(2), "desiredNumberScheduled": int64(6)}, "InProgress"},
		{"begun", nil, map[string]any{"observedGeneration": int64(2), "desiredNumberScheduled": int64(6), "updatedNumberScheduled": int64(1)}, "Current"},
		{"without nodes", nil, map[string]any{"observedGeneration": int64(2), "desiredNumberScheduled": int64(0)}, "Current"},
		{"going back", map[string]any{"tranche.dev/reverted": "2026-11-23T01:20:53Z"}, map[string]any{"observedGeneration": int64(2), "desiredNumberScheduled": int64(6), "updatedNumberScheduled": int64(5)}, "Failed"},
	} {
		t.Run(one.name, func(t *testing.T) {
			metadata := map[string]any{"name": "node-agent", "generation": int64(2)}
			if one.annotations != nil {
				metadata["annotations"] = one.annotations
			}
			expectVerdict(t, evaluator, &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "apps/v1",
				"kind":       "DaemonSet",
				"metadata":   metadata,
				"status":     one.status,
			}}, one.want)
		})
	}
}

func TestKustomizationsHaveOnlyFieldsThatFluxKnows(t *testing.T) {
	agent := kustomization(t, "repository/clusters/production/flux/node-agent.yaml")
	if len(agent.Spec.HealthChecks) != 2 || agent.Spec.HealthChecks[1].Kind != "Rollout" || agent.Spec.Timeout == nil {
		t.Errorf("the Kustomization waits for %v", agent.Spec.HealthChecks)
	}
	if vendor := kustomization(t, "vendor/flux.yaml"); len(vendor.Spec.Patches) != 1 {
		t.Errorf("the Kustomization has the patches %v", vendor.Spec.Patches)
	}
}

func evaluatorOf(t *testing.T, kind string) *cel.StatusEvaluator {
	t.Helper()
	for _, one := range kustomization(t, "repository/clusters/production/flux/node-agent.yaml").Spec.HealthCheckExprs {
		if one.Kind == kind {
			evaluator, err := cel.NewStatusEvaluator(&one.HealthCheckExpressions)
			if err != nil {
				t.Fatal(err)
			}
			return evaluator
		}
	}
	t.Fatalf("the example has no expressions for %s", kind)
	return nil
}

func expectVerdict(t *testing.T, evaluator *cel.StatusEvaluator, object *unstructured.Unstructured, want string) {
	t.Helper()
	result, err := evaluator.Evaluate(context.Background(), object)
	got := "error"
	if err == nil {
		got = result.Status.String()
	}
	if got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
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

// Flux has a kstatus of its own, which must give the same result.
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
