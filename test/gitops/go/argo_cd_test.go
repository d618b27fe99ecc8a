package gitops

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v3/resource_customizations"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const scripts = "examples/gitops/argo-cd/resource_customizations/rollouts.kruise.io/Rollout/"

func TestTheScriptThatArgoCDBringsSaysWhatTheTableSays(t *testing.T) {
	script, err := resource_customizations.Embedded.ReadFile("rollouts.kruise.io/Rollout/health.lua")
	if err != nil {
		t.Fatal(err)
	}
	forEach(t, func(t *testing.T, one situation) {
		got := "error"
		if result, err := run(string(script), &one.Rollout); err == nil {
			got = field(result, "status")
		}
		// Newer versions show an object in deletion as Progressing; older ones have no status for it.
		if got != one.ArgoOwn && !strings.Contains(one.Standing, "being deleted") {
			t.Errorf("got %s, want %s", got, one.ArgoOwn)
		}
	})
}

func TestOurScriptSaysWhatTheTableSays(t *testing.T) {
	forEach(t, func(t *testing.T, one situation) {
		result, err := run(read(t, scripts+"health.lua"), &one.Rollout)
		if err != nil {
			t.Fatal(err)
		}
		if field(result, "status") != one.Argo.Status || field(result, "message") != one.Argo.Message {
			t.Errorf("got %s (%s), want %s (%s)", field(result, "status"), field(result, "message"), one.Argo.Status, one.Argo.Message)
		}
	})
}

func TestOurMenuOffersWhatTheTableSays(t *testing.T) {
	forEach(t, func(t *testing.T, one situation) {
		result, err := run(read(t, scripts+"actions/discovery.lua"), &one.Rollout)
		if err != nil {
			t.Fatal(err)
		}
		var offered []string
		result.(*lua.LTable).ForEach(func(name, action lua.LValue) {
			if action.(*lua.LTable).RawGetString("disabled") == lua.LFalse {
				offered = append(offered, name.String())
			}
		})
		slices.Sort(offered)
		slices.Sort(one.Actions)
		if !slices.Equal(offered, one.Actions) {
			t.Errorf("got %v, want %v", offered, one.Actions)
		}
	})
}

func TestEveryOfferedActionWritesTheAnnotationOrAPause(t *testing.T) {
	entries, err := os.ReadDir(root + scripts + "actions")
	if err != nil || len(entries) < 2 {
		t.Fatalf("there are no actions: %v", err)
	}
	forEach(t, func(t *testing.T, one situation) {
		for _, name := range one.Actions {
			result, err := run(read(t, scripts+"actions/"+name+"/action.lua"), &one.Rollout)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			paused := result.(*lua.LTable).RawGetString("spec").(*lua.LTable).RawGetString("strategy").(*lua.LTable).RawGetString("paused")
			before, _, _ := unstructured.NestedBool(one.Rollout.Object, "spec", "strategy", "paused")
			if (paused == lua.LTrue) != before {
				continue
			}
			annotations := result.(*lua.LTable).RawGetString("metadata").(*lua.LTable).RawGetString("annotations").(*lua.LTable)
			var written struct {
				Id, Type, Revision, By string
				ExpectedStep           int
			}
			text := field(annotations, "tranche.dev/action")
			if err := json.Unmarshal([]byte(text), &written); err != nil || written.Id == "" || written.Type == "" || written.By != "argocd" {
				t.Errorf("%s writes %s: %v", name, text, err)
			}
		}
	})
}

// run runs a script like Argo CD, with the libraries base, package and table, and the part of os that it allows.
func run(script string, object *unstructured.Unstructured) (lua.LValue, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage,
		lua.BaseLibName: lua.OpenBase,
		lua.TabLibName:  lua.OpenTable,
	} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return nil, err
		}
	}
	state.PreloadModule(lua.OsLibName, func(state *lua.LState) int {
		now := func(state *lua.LState) int {
			state.Push(lua.LNumber(time.Now().Unix()))
			return 1
		}
		state.Push(state.SetFuncs(state.NewTable(), map[string]lua.LGFunction{"time": now}))
		return 1
	})
	state.SetGlobal("obj", value(state, object.Object))
	if err := state.DoString(script); err != nil {
		return nil, err
	}
	return state.Get(-1), nil
}

// value converts a member of an object to a value of Lua.
func value(state *lua.LState, member any) lua.LValue {
	switch member := member.(type) {
	case bool:
		return lua.LBool(member)
	case string:
		return lua.LString(member)
	case int64:
		return lua.LNumber(member)
	case float64:
		return lua.LNumber(member)
	case []any:
		list := state.CreateTable(len(member), 0)
		for _, one := range member {
			list.Append(value(state, one))
		}
		return list
	case map[string]any:
		table := state.CreateTable(0, len(member))
		for key, one := range member {
			table.RawSetString(key, value(state, one))
		}
		return table
	}
	return lua.LNil
}

func field(table lua.LValue, name string) string {
	return table.(*lua.LTable).RawGetString(name).String()
}
