#!/usr/bin/env bash
# One release as one step of a pipeline: applies manifests, waits, approves the steps that wait for approval, and takes the version
# back when it fails or takes too long. Needs kubectl and tranche; says what it does on standard error.
#
#   release.sh MANIFESTS ROLLOUT
#
# Environment:
#   NAMESPACE   of the Rollout                                      (that of the context)
#   TIMEOUT     the longest that one step may take                  (30m)
#   CHECK       command that has to succeed before each approval    (none: every step is approved)
#   APPROVE     no: stop with 3 where a person has to approve       (yes)
#   REASON      stands on the record of each wish                   (pipeline)
#
# Ends with 0: released; 1: failed, and taken back; 3: a person has to decide; 4: it could not be found out.
set -euo pipefail

manifests=${1:?name the manifests to apply} rollout=${2:?name the Rollout}
timeout=${TIMEOUT:-30m} reason=${REASON:-pipeline}
namespace=${NAMESPACE:+--namespace=$NAMESPACE}

say() { echo "release: $*" >&2; }

# Prints nothing; its exit code is what the release comes to.
wait_for_end() { tranche status "$rollout" $namespace --timeout "$timeout" >&2; }

take_back() {
  say "$1: taking the version back"
  # Where the policy takes it back by itself, there is nothing left to abort.
  tranche abort "$rollout" $namespace --yes --reason "$reason: $1" --wait=2m >&2 || true
  wait_for_end || true
  exit 1
}

approve() {
  [ "${APPROVE:-yes}" = yes ] || { say 'a person has to approve'; exit 3; }
  if [ -n "${CHECK:-}" ] && ! bash -c "$CHECK" >&2; then take_back "the check failed ($CHECK)"; fi
  # Refused where it is not a step that waits for approval: somebody has paused it, or has been quicker.
  tranche approve "$rollout" $namespace --reason "$reason" --wait=2m >&2 || { say 'a person has to decide'; exit 3; }
}

# Nothing is applied that could then not be followed.
for program in kubectl tranche; do
  command -v "$program" >/dev/null || { say "there is no $program on the PATH: nothing was applied"; exit 4; }
done

kubectl apply $namespace --filename "$manifests" >&2
while true; do
  code=0
  wait_for_end || code=$?
  case $code in
    0) say 'released'; exit 0 ;;
    1) take_back 'the release failed' ;;
    2) take_back "no end within $timeout" ;;
    3) approve ;;
    *) say 'what became of the release could not be found out'; exit 4 ;;
  esac
done
