package main

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func applyPatches(ctx context.Context, session *session) error {
	client := session.core.ConfigMaps(namespace)
	patches := []struct {
		format types.PatchType
		body   string
	}{
		{types.MergePatchType, `{"data":{"a":"1","b":"2"}}`},
		{types.JSONPatchType, `[{"op":"test","path":"/data/a","value":"1"},{"op":"replace","path":"/data/a","value":"3"}]`},
		{types.StrategicMergePatchType, `{"metadata":{"finalizers":["example.com/x"]},"data":{"b":null}}`},
		{types.StrategicMergePatchType, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/x"]}}`},
	}
	for _, patch := range patches {
		if _, err := client.Patch(ctx, "second", patch.format, []byte(patch.body), metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("%s: %w", patch.format, err)
		}
	}
	object, err := client.Get(ctx, "second", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if object.Data["a"] != "3" || len(object.Data) != 1 || len(object.Finalizers) != 0 {
		return fmt.Errorf("left %v with finalizers %v", object.Data, object.Finalizers)
	}
	return nil
}

func meetConflict(ctx context.Context, session *session) error {
	client := session.core.ConfigMaps(namespace)
	object, err := client.Get(ctx, "second", metav1.GetOptions{})
	if err != nil {
		return err
	}
	object.Data = map[string]string{"a": "4"}
	if _, err := client.Update(ctx, object, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if _, err := client.Update(ctx, object, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("the second update from one version: %v", err)
	}
	return nil
}

// handOverLease does what leader election does, by the client alone: its package brings the clients of all groups with it.
func handOverLease(ctx context.Context, session *session) error {
	client := session.coordination.Leases(namespace)
	first, second := "first", "second"
	duration := int32(2)
	taken := metav1.NewMicroTime(time.Unix(1_700_000_000, 123_456_000))
	lease, err := client.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "election"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &first, LeaseDurationSeconds: &duration, RenewTime: &taken},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	late := lease.DeepCopy()
	late.Spec.HolderIdentity = &second
	if lease, err = client.Update(ctx, lease, metav1.UpdateOptions{}); err != nil {
		return err
	}
	renewed := metav1.NewMicroTime(taken.Add(time.Second))
	lease.Spec.RenewTime = &renewed
	if lease, err = client.Update(ctx, lease, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if _, err := client.Update(ctx, late, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("a candidate who read before the last renewal: %v", err)
	}
	lease.Spec.HolderIdentity = &second
	if lease, err = client.Update(ctx, lease, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if *lease.Spec.HolderIdentity != second || !lease.Spec.RenewTime.Equal(&renewed) {
		return fmt.Errorf("held by %q, renewed at %s", *lease.Spec.HolderIdentity, lease.Spec.RenewTime)
	}
	return nil
}

func evict(ctx context.Context, session *session) error {
	if err := createGuardedPod(ctx, session); err != nil {
		return err
	}
	if err := allowDisruptions(ctx, session, 0); err != nil {
		return err
	}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "guarded", Namespace: namespace}}
	if err := session.policy.Evictions(namespace).Evict(ctx, eviction); !apierrors.IsTooManyRequests(err) {
		return fmt.Errorf("an eviction that the budget does not allow: %v", err)
	}
	if err := allowDisruptions(ctx, session, 1); err != nil {
		return err
	}
	if err := session.policy.Evictions(namespace).Evict(ctx, eviction); err != nil {
		return err
	}
	return until(ctx, "the pod is going", func() bool {
		pod, err := session.core.Pods(namespace).Get(ctx, "guarded", metav1.GetOptions{})
		return apierrors.IsNotFound(err) || (err == nil && pod.DeletionTimestamp != nil)
	})
}

func createGuardedPod(ctx context.Context, session *session) error {
	labels := map[string]string{"app": "guarded"}
	pods := session.core.Pods(namespace)
	pod, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "guarded", Labels: labels},
		Spec:       corev1.PodSpec{NodeName: "none", Containers: []corev1.Container{{Name: "main", Image: "app:1"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if _, err := pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
		return err
	}
	all := intstr.FromString("100%")
	_, err = session.policy.PodDisruptionBudgets(namespace).Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "guard"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &all, Selector: &metav1.LabelSelector{MatchLabels: labels}},
	}, metav1.CreateOptions{})
	return err
}

func allowDisruptions(ctx context.Context, session *session, count int32) error {
	client := session.policy.PodDisruptionBudgets(namespace)
	budget, err := client.Get(ctx, "guard", metav1.GetOptions{})
	if err != nil {
		return err
	}
	budget.Status = policyv1.PodDisruptionBudgetStatus{
		ObservedGeneration: budget.Generation,
		CurrentHealthy:     1,
		DesiredHealthy:     1 - count,
		ExpectedPods:       1,
		DisruptionsAllowed: count,
	}
	_, err = client.UpdateStatus(ctx, budget, metav1.UpdateOptions{})
	return err
}
