package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

func findDaemonSets(_ context.Context, session *session) error {
	lists, err := session.discovery.ServerPreferredResources()
	if err != nil {
		return err
	}
	for _, list := range lists {
		for _, resource := range list.APIResources {
			if list.GroupVersion == "apps/v1" && resource.Kind == "DaemonSet" {
				return exactly(session.requests.count("GET /apis/"), 0, "requests for single groups")
			}
		}
	}
	return fmt.Errorf("no DaemonSet in %d lists", len(lists))
}

func followChanges(ctx context.Context, session *session) error {
	if err := createConfigMaps(ctx, session, "first", "second"); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	store, err := watchConfigMaps(ctx, session, "")
	if err != nil {
		return err
	}
	if err := exactly(session.requests.count("configmaps", "sendInitialEvents=true"), 1, "streamed lists"); err != nil {
		return err
	}
	client := session.core.ConfigMaps(namespace)
	if err := createConfigMaps(ctx, session, "third"); err != nil {
		return err
	}
	if err := client.Delete(ctx, "first", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return until(ctx, "second and third are known, and first is not", func() bool {
		return has(store, "second") && has(store, "third") && !has(store, "first")
	})
}

// The server answers this user's watches with 410 once, in the middle of the stream, when it comes to "breaks-watches".
func recoverFromExpiry(ctx context.Context, session *session) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	store, err := watchConfigMaps(ctx, session, "expiry=yes")
	if err != nil {
		return err
	}
	streamed := session.requests.count("configmaps", "sendInitialEvents=true", "expiry")
	labels := map[string]string{"expiry": "yes"}
	for _, name := range []string{"breaks-watches", "comes-later"} {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
		if _, err := session.core.ConfigMaps(namespace).Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if err := until(ctx, "both are known", func() bool { return has(store, "breaks-watches") && has(store, "comes-later") }); err != nil {
		return err
	}
	return exactly(session.requests.count("configmaps", "sendInitialEvents=true", "expiry")-streamed, 1, "lists again")
}

func listInPages(ctx context.Context, session *session) error {
	seen := 0
	options := metav1.ListOptions{Limit: 1}
	for {
		page, err := session.core.ConfigMaps(namespace).List(ctx, options)
		if err != nil {
			return err
		}
		seen += len(page.Items)
		if options.Continue = page.Continue; options.Continue == "" {
			break
		}
	}
	all, err := session.core.ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	return exactly(seen, len(all.Items), "objects in pages")
}

func watchConfigMaps(ctx context.Context, session *session, selector string) (cache.Store, error) {
	source := cache.NewFilteredListWatchFromClient(session.core.RESTClient(), "configmaps", namespace,
		func(options *metav1.ListOptions) { options.LabelSelector = selector })
	informer := cache.NewSharedIndexInformer(source, &corev1.ConfigMap{}, 0, cache.Indexers{})
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil, fmt.Errorf("the informer did not sync")
	}
	return informer.GetStore(), nil
}

func createConfigMaps(ctx context.Context, session *session, names ...string) error {
	for _, name := range names {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := session.core.ConfigMaps(namespace).Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func has(store cache.Store, name string) bool {
	_, found, _ := store.GetByKey(namespace + "/" + name)
	return found
}

func until(ctx context.Context, what string, done func() bool) error {
	err := wait.PollUntilContextCancel(ctx, 5*time.Millisecond, true, func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		return fmt.Errorf("waiting until %s: %w", what, err)
	}
	return nil
}

func exactly(found, wanted int, what string) error {
	if found == wanted {
		return nil
	}
	return fmt.Errorf("%d %s instead of %d", found, what, wanted)
}
