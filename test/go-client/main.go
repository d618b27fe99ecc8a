// Command go-client uses an API server as controllers written with client-go do, and says one line for each thing that
// works. It ends with 1 at the first that does not. The kubeconfig is named by KUBECONFIG.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/discovery"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	policyv1 "k8s.io/client-go/kubernetes/typed/policy/v1"
	"k8s.io/client-go/tools/clientcmd"
)

const namespace = "default"

// A step is one thing that a client does.
type step struct {
	says string
	run  func(ctx context.Context, session *session) error
}

// A session is what the steps share. Clients stand here group by group, because the set of all groups takes long to compile.
type session struct {
	core         corev1.CoreV1Interface
	policy       policyv1.PolicyV1Interface
	coordination coordinationv1.CoordinationV1Interface
	discovery    discovery.DiscoveryInterface
	requests     *requestLog
}

var steps = []step{
	{"discovery finds DaemonSets in one document", findDaemonSets},
	{"an informer streams its list and follows changes", followChanges},
	{"an informer finds everything again after 410", recoverFromExpiry},
	{"a list in pages is complete", listInPages},
	{"three kinds of patch apply", applyPatches},
	{"an object changed meanwhile is a conflict", meetConflict},
	{"a Lease changes hands, and a candidate who read too early is refused", handOverLease},
	{"an eviction waits for the disruption budget", evict},
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	session, err := connect(os.Getenv("KUBECONFIG"))
	if err != nil {
		fail("connecting", err)
	}
	for _, step := range steps {
		if err := step.run(ctx, session); err != nil {
			fail(step.says, err)
		}
		fmt.Println("ok: " + step.says)
	}
}

func connect(kubeconfig string) (*session, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	// As the controllers of a cluster are configured; the server may answer in JSON.
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	config.QPS = -1
	requests := &requestLog{}
	config.Wrap(requests.wrap)
	return &session{
		core:         corev1.NewForConfigOrDie(config),
		policy:       policyv1.NewForConfigOrDie(config),
		coordination: coordinationv1.NewForConfigOrDie(config),
		discovery:    discovery.NewDiscoveryClientForConfigOrDie(config),
		requests:     requests,
	}, nil
}

func fail(what string, err error) {
	fmt.Printf("failed: %s: %v\n", what, err)
	os.Exit(1)
}
