#!/usr/bin/env bash
# One release as one step of a pipeline: applies manifests, waits, approves the steps that wait for approval, and takes the version
# back when it fails or takes too long. Needs kubectl and tranche; says what it does on standard error.
#
#   release.sh MANIFESTS ROLLOUT
#
# kubectl applies the files of a folder in the order of their names. Name the Rollout so that it comes before its DaemonSet: once the new
# template is applied a release is under way, and another number of steps is rejected until it has ended.
#
# Environment:
#   NAMESPACE   of the Rollout                                      (that of the context)
#   TIMEOUT     the longest that one step may take                  (30m)
#   CHECK       command that has to succeed before each approval    (none: every step is approved)
#               STEP: the step that it is to look at, from 1
#   APPROVE     no: stop with 3 where a person has to approve       (yes)
#   REASON      stands on the record of each action                 (pipeline)
#
# Ends with 0: released; 1: failed, and taken back; 3: a person has to decide; 4: it could not be applied, or not be found out.
#
# It approves and takes back the revision that it has applied, and no other, and approves the step that CHECK has looked at, and no other:
# where another version is applied meanwhile, or somebody else approves while CHECK runs, it ends with 3.
#
# A pipeline that is cancelled takes nothing back. On SIGINT (Ctrl-C), SIGTERM and SIGHUP it says how the release goes on without it, and
# ends by that signal: to a step that waits for approval, which nobody gives then. Who wants more writes it: tranche pause, tranche abort.
set -euo pipefail

manifests=${1:?name the manifests to apply} rollout=${2:?name the Rollout}
timeout=${TIMEOUT:-30m} reason=${REASON:-pipeline}
namespace=${NAMESPACE:+--namespace=$NAMESPACE}
# What becomes of the release when this run is stopped; the revision that it has applied, once it is known; the program that it waits for.
without_us='nothing was applied' revision='' child=''

say() { echo "release: $*" >&2; }

stopped() {
  trap - INT TERM HUP
  if [ -n "$child" ]; then
    kill "$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  fi
  say "stopped by SIG$1: $without_us"
  kill -s "$1" $$
}
for signal in INT TERM HUP; do trap "stopped $signal" "$signal"; done

# Runs a program in the background, so that a signal is heeded at once, and not when the program has ended.
run() {
  local code=0
  "$@" >&2 &
  child=$!
  wait "$child" || code=$?
  child=''
  return "$code"
}

# Its exit code is what the release comes to.
wait_for_end() { run tranche status "$rollout" $namespace --timeout "$timeout"; }

# Prints fields of the Rollout.
fields() { kubectl get rollouts.rollouts.kruise.io "$rollout" $namespace --output "jsonpath=$1"; }

# Applies the manifests, and prints of each object: kind, name, generation, and how often its pod template was changed so far.
apply() {
  local one='{{.kind}} {{.metadata.name}} {{.metadata.generation}} {{with .metadata.annotations}}{{with index . "deprecated.daemonset.template.generation"}}{{.}}{{end}}{{end}}{{"\n"}}'
  kubectl apply $namespace --filename "$manifests" --output "go-template={{define \"one\"}}$one{{end}}{{if .items}}{{range .items}}{{template \"one\" .}}{{end}}{{else}}{{template \"one\" .}}{{end}}"
}

# Prints generation and number of template changes of the DaemonSet, as it is now.
template_now() {
  kubectl get daemonset "$daemonset" $namespace \
    --output 'jsonpath={.metadata.generation} {.metadata.annotations.deprecated\.daemonset\.template\.generation}'
}

# Finds the revision that was applied: the one that is released once the Rollout has seen the template, while it is still ours.
find_revision() {
  local generation=$1 number=$2 seen='' canary='' now=''
  for _ in $(seq 60); do
    read -r seen canary <<<"$(fields '{.status.canaryStatus.observedWorkloadGeneration} {.status.canaryStatus.canaryRevision}')" || true
    [ "${seen:-0}" -lt "$generation" ] || break
    run sleep 1
  done
  read -r _ now <<<"$(template_now)"
  if [ "$now" != "$number" ]; then
    say 'the template has been changed again since: a person has to decide'
    exit 3
  fi
  [ "${seen:-0}" -lt "$generation" ] || revision=$canary
}

take_back() {
  if [ -z "$revision" ]; then
    say "$1, and no release of what was applied was seen: nothing is taken back"
    exit 4
  fi
  say "$1: taking revision $revision back"
  without_us="revision $revision may have been taken back already: look with tranche get $rollout $namespace"
  # Refused where the policy or a person has taken it back, and where another version is released by now.
  if ! run tranche abort "$rollout" $namespace --yes --revision "$revision" --reason "$reason: $1" --wait=2m; then
    case " $(fields '{.status.heldRevisions[*].revision}') " in
      *" $revision "*) ;;
      *) say "revision $revision was not taken back: a person has to decide"; exit 3 ;;
    esac
  fi
  wait_for_end || true
  exit 1
}

approve() {
  local step
  # The step that the check looks at is the one that is approved: whatever comes after it is looked at by its own turn.
  step=$(fields '{.status.canaryStatus.currentStepIndex}') || { say 'the step that waits could not be found out'; exit 4; }
  if [ "${APPROVE:-yes}" != yes ] || [ -z "$revision" ]; then say 'a person has to approve'; exit 3; fi
  if [ -n "${CHECK:-}" ] && ! run env STEP="$step" bash -c "$CHECK"; then take_back "the check failed ($CHECK)"; fi
  # Refused where that step does not wait any more: somebody has paused it, or has been quicker, or has applied another version.
  run tranche approve "$rollout" $namespace --revision "$revision" --expected-step "$step" --reason "$reason" --wait=2m || { say 'a person has to decide'; exit 3; }
}

# Nothing is applied that could then not be followed.
for program in kubectl tranche; do
  command -v "$program" >/dev/null || { say "there is no $program on the PATH: nothing was applied"; exit 4; }
done

without_us='what was applied so far is released without this run'
applied=$(apply) || { say 'not everything could be applied'; exit 4; }
echo "$applied" >&2
daemonset=$(fields '{.spec.workloadRef.name}') || { say 'what was applied is no release that could be followed'; exit 4; }
read -r generation number <<<"$(awk -v name="$daemonset" '$1 == "DaemonSet" && $2 == name { print $3, $4 }' <<<"$applied" | grep . || template_now)"
[ -n "$number" ] || { say 'which template was applied could not be found out: look with tranche get '"$rollout $namespace"; exit 4; }
find_revision "$generation" "$number"
without_us="the release goes on to the next step that waits for approval. To stop it: tranche pause $rollout $namespace"
[ -z "$revision" ] || without_us="$without_us; to take it back: tranche abort $rollout $namespace --revision $revision"

while true; do
  code=0
  wait_for_end || code=$?
  case $code in
    0)
      if [ -n "$revision" ] && [ "$(fields '{.status.canaryStatus.canaryRevision}')" != "$revision" ]; then
        say "another version than revision $revision is released by now: a person has to decide"
        exit 3
      fi
      say 'released'
      exit 0
      ;;
    1) take_back 'the release failed' ;;
    2) take_back "no end within $timeout" ;;
    3) approve ;;
    *) say 'what became of the release could not be found out'; exit 4 ;;
  esac
done
