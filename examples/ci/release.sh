#!/usr/bin/env bash
# Runs a release as one step of a pipeline: applies manifests, waits, approves steps, and rolls the version back if it fails or takes too
# long. Requires kubectl and tranche. Reports progress on standard error.
#
#   release.sh MANIFESTS ROLLOUT
#
# kubectl applies the files of a folder in the order of their names. The Rollout's file must come before the DaemonSet's: once the new
# template is applied, a release is running, and a different number of steps is rejected until it ends.
#
# Environment:
#   NAMESPACE: namespace of the Rollout. Default: the namespace of the context.
#   TIMEOUT: maximum duration of one step. Default: 30m.
#   CHECK: command that must succeed before each approval. It gets the step to check, from 1, as STEP. Default: none, every step is approved.
#   APPROVE: "no" exits with 3 if a step needs approval. Default: yes.
#   REASON: reason that is recorded with each action. Default: pipeline.
#
# Exit codes: 0: released; 1: failed and rolled back; 3: a person has to decide; 4: it could not be applied, or its state is unknown.
#
# The script approves and rolls back only the revision that it applied, and approves only the step that CHECK checked. If another version
# is applied in the meantime, or another user approves while CHECK runs, it exits with 3.
#
# Cancelling the pipeline does not roll back. On SIGINT (Ctrl-C), SIGTERM and SIGHUP the script says how the release continues, and ends by
# that signal: the release continues to the next step that waits for approval. To stop it, use tranche pause or tranche abort.
set -euo pipefail

manifests=${1:?name the manifests to apply} rollout=${2:?name the Rollout}
timeout=${TIMEOUT:-30m} reason=${REASON:-pipeline}
namespace=${NAMESPACE:+--namespace=$NAMESPACE}
# Text about the release if this run is stopped; the applied revision, once known; the pid of the running program.
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

# Runs a program in the background, so that a signal is handled at once, not after the program ends.
run() {
  local code=0
  "$@" >&2 &
  child=$!
  wait "$child" || code=$?
  child=''
  return "$code"
}

# Its exit code is the outcome of the release.
wait_for_end() { run tranche status "$rollout" $namespace --timeout "$timeout"; }

# Prints fields of the Rollout.
fields() { kubectl get rollouts.rollouts.kruise.io "$rollout" $namespace --output "jsonpath=$1"; }

# Applies the manifests. Prints kind, name, generation and number of pod template changes of each object.
apply() {
  local one='{{.kind}} {{.metadata.name}} {{.metadata.generation}} {{with .metadata.annotations}}{{with index . "deprecated.daemonset.template.generation"}}{{.}}{{end}}{{end}}{{"\n"}}'
  kubectl apply $namespace --filename "$manifests" --output "go-template={{define \"one\"}}$one{{end}}{{if .items}}{{range .items}}{{template \"one\" .}}{{end}}{{else}}{{template \"one\" .}}{{end}}"
}

# Prints the current generation and number of template changes of the DaemonSet.
template_now() {
  kubectl get daemonset "$daemonset" $namespace \
    --output 'jsonpath={.metadata.generation} {.metadata.annotations.deprecated\.daemonset\.template\.generation}'
}

# Finds the applied revision: the one being released after the Rollout has observed the template, if no other template was applied since.
find_revision() {
  local generation=$1 number=$2 seen='' canary='' now=''
  for _ in $(seq 60); do
    read -r seen canary <<<"$(fields '{.status.canaryStatus.observedWorkloadGeneration} {.status.canaryStatus.canaryRevision}')" || true
    [ "${seen:-0}" -lt "$generation" ] || break
    run sleep 1
  done
  read -r _ now <<<"$(template_now)"
  if [ "$now" != "$number" ]; then
    say 'the template has been changed again: a person has to decide'
    exit 3
  fi
  [ "${seen:-0}" -lt "$generation" ] || revision=$canary
}

take_back() {
  if [ -z "$revision" ]; then
    say "$1, and no release of the applied version was found: nothing is rolled back"
    exit 4
  fi
  say "$1: rolling revision $revision back"
  without_us="revision $revision may have been rolled back already: check with tranche get $rollout $namespace"
  # Rejected if the policy or a user has already rolled it back, or if another version is being released.
  if ! run tranche abort "$rollout" $namespace --yes --revision "$revision" --reason "$reason: $1" --wait=2m; then
    case " $(fields '{.status.heldRevisions[*].revision}') " in
      *" $revision "*) ;;
      *) say "revision $revision was not rolled back: a person has to decide"; exit 3 ;;
    esac
  fi
  wait_for_end || true
  exit 1
}

approve() {
  local step
  # Only the checked step is approved. Each later step gets its own check.
  step=$(fields '{.status.canaryStatus.currentStepIndex}') || { say 'cannot determine the waiting step'; exit 4; }
  if [ "${APPROVE:-yes}" != yes ] || [ -z "$revision" ]; then say 'a person has to approve'; exit 3; fi
  if [ -n "${CHECK:-}" ] && ! run env STEP="$step" bash -c "$CHECK"; then take_back "the check failed ($CHECK)"; fi
  # Rejected if the step no longer waits: another user paused or approved it, or applied another version.
  run tranche approve "$rollout" $namespace --revision "$revision" --expected-step "$step" --reason "$reason" --wait=2m || { say 'a person has to decide'; exit 3; }
}

# Apply nothing if a program for following the release is missing.
for program in kubectl tranche; do
  command -v "$program" >/dev/null || { say "$program is not on the PATH: nothing was applied"; exit 4; }
done

without_us='what was applied so far is released without this run'
applied=$(apply) || { say 'some manifests could not be applied'; exit 4; }
echo "$applied" >&2
daemonset=$(fields '{.spec.workloadRef.name}') || { say 'the applied manifests have no release to follow'; exit 4; }
read -r generation number <<<"$(awk -v name="$daemonset" '$1 == "DaemonSet" && $2 == name { print $3, $4 }' <<<"$applied" | grep . || template_now)"
[ -n "$number" ] || { say 'cannot determine the applied template: check with tranche get '"$rollout $namespace"; exit 4; }
find_revision "$generation" "$number"
without_us="the release continues to the next step that waits for approval. To stop it: tranche pause $rollout $namespace"
[ -z "$revision" ] || without_us="$without_us; to roll it back: tranche abort $rollout $namespace --revision $revision"

while true; do
  code=0
  wait_for_end || code=$?
  case $code in
    0)
      if [ -n "$revision" ] && [ "$(fields '{.status.canaryStatus.canaryRevision}')" != "$revision" ]; then
        say "a version other than revision $revision is being released: a person has to decide"
        exit 3
      fi
      say 'released'
      exit 0
      ;;
    1) take_back 'the release failed' ;;
    2) take_back "no end within $timeout" ;;
    3) approve ;;
    *) say 'cannot determine the outcome of the release'; exit 4 ;;
  esac
done
