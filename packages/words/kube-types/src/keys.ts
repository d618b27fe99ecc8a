/** Annotations on a bound DaemonSet. Values and writers: docs/reference/annotations.md. */
export const daemonSetAnnotations = {
  /** `controller-revision-hash` being released. */
  canaryRevision: 'rollouts.kruise.io/daemonset-canary-revision',
  /** `controller-revision-hash` of the last good revision. */
  stableRevision: 'rollouts.kruise.io/daemonset-stable-revision',
  /** Number of nodes to keep on the old revision, as a decimal string. */
  partition: 'rollouts.kruise.io/daemonset-partition',
  /** `"true"`: the executor must not delete pods. */
  paused: 'tranche.dev/paused',
  /** Owner reference JSON of the BatchRelease in charge. */
  controlInfo: 'batchrelease.rollouts.kruise.io/control-info',
  /** `{"rolloutName":"x"}` while a release runs. */
  inProgressing: 'rollouts.kruise.io/in-progressing',
  /** Update strategy type to restore: `RollingUpdate` or `OnDelete`. Written once, never overwritten. */
  originalUpdateStrategy: 'rollouts.kruise.io/daemonset-original-update-strategy',
  /** Name of the Rollout bound to the DaemonSet. */
  rollout: 'tranche.dev/rollout',
  /** Time of the block for which the template was restored. It is restored once for each. */
  reverted: 'tranche.dev/reverted',
  /** JSON: state that a disable or delete left behind. */
  frozen: 'tranche.dev/frozen',
  /** JSON: nodes on which a detached release deleted pods and that have no available pod yet. The next release inherits them. */
  unsettled: 'tranche.dev/unsettled',
} as const

/**
 * Annotations that OpenKruise's controller puts on a DaemonSet during its own release. Tranche removes them when it takes over the
 * release, because they have no meaning after that.
 */
export const kruiseAnnotations = {
  /** JSON: canary and stable revision. */
  revision: 'rollouts.kruise.io/daemonset-revision',
  /** JSON: number of pods to keep, and the revision of the batch. */
  advancedControl: 'rollouts.kruise.io/daemonset-advanced-control',
} as const

/** Label on a bound DaemonSet; its value is {@link WORKLOAD_TYPE_DAEMONSET}. */
export const WORKLOAD_TYPE_LABEL = 'rollouts.kruise.io/workload-type'
/** Value of {@link WORKLOAD_TYPE_LABEL}. */
export const WORKLOAD_TYPE_DAEMONSET = 'daemonset'

/** Label on the DaemonSet (set by the user) and on pods of a release. */
export const ROLLOUT_ID_LABEL = 'rollouts.kruise.io/rollout-id'
/** Label on pods of a release: number of the batch, from 1, decimal. */
export const ROLLOUT_BATCH_ID_LABEL = 'rollouts.kruise.io/rollout-batch-id'
/** Label on pods: id of the release during which the pod was created without a permit for its node. */
export const LEAKED_LABEL = 'tranche.dev/leaked'
/** Annotation of a CustomResourceDefinition whose deletion, and with it that of all its objects, is wanted: `true`. */
export const ALLOW_DELETE_ANNOTATION = 'tranche.dev/allow-delete'

/** Label on helper pods, which pull the images of a release: `controller-revision-hash` being released. */
export const PRE_PULL_LABEL = 'tranche.dev/pre-pull'

/** Annotation of a helper pod: version of its BatchRelease in which its creator saw that the node needs it. */
export const PRE_PULL_SEEN = 'tranche.dev/pre-pull-seen'

/** Path that no image has: a container of a helper pod could not run even if its kubelet tried, as those of Windows do. */
export const PRE_PULL_PROGRAM = '/tranche.dev/only-pulls-images'

/** Label on the Lease of a group: its name. */
export const GROUP_LABEL = 'tranche.dev/group'

/** Annotation on pods: a random value, written to change `resourceVersion` (rule F7). */
export const TOUCHED_ANNOTATION = 'tranche.dev/touched'
/** Annotation on nodes (JSON): the permit for which an executor drains the node, and whether it cordoned the node. */
export const CORDON_ANNOTATION = 'tranche.dev/cordon'
/** Node condition of a drain. @see KEP-5683, specialized lifecycle management */
export const DRAIN_CONDITION = 'DrainInProgress'
/** Reason of that condition where an executor set it. Conditions with another reason belong to other programs. */
export const DRAIN_REASON = 'TrancheDrain'
/** Annotation on Leases of nodes (JSON): the permit for which an executor holds the Lease, and where it saw the permit. */
export const NODE_LOCK_ANNOTATION = 'tranche.dev/node-lock'
/** Default namespace of the Leases of nodes, as in the lease library of medik8s. */
export const NODE_LOCK_NAMESPACE = 'medik8s-leases'
/** Label on Leases that remember for how long an agent was away from a node: uid of the DaemonSet. */
export const DOWNTIME_LABEL = 'tranche.dev/downtime'
/** Annotation on these Leases (JSON): when the agent was away. */
export const DOWNTIME_ANNOTATION = 'tranche.dev/downtimes'
/** Label that Kubernetes sets on pods and ControllerRevisions: identity of the revision. */
export const REVISION_HASH_LABEL = 'controller-revision-hash'

/** Label on ControllerRevisions whose template is rejected at admission (`failure.onReapply: Deny`). Only the value `true` counts. */
export const REFUSED_LABEL = 'tranche.dev/refused'

/** Label on Secrets that policies may use; its value is {@link POLICY_SECRET}. It lends the Secret to every author of policies. */
export const POLICY_SECRET_LABEL = 'tranche.dev/policy-secret'
/** Value of {@link POLICY_SECRET_LABEL}. */
export const POLICY_SECRET = 'true'

/** Annotations on a Rollout. */
export const rolloutAnnotations = {
  /** Action as JSON: `{id, type, expectedStep, step, full, revision, by, reason}`. */
  action: 'tranche.dev/action',
  releasePolicy: 'tranche.dev/release-policy',
  onDelete: 'tranche.dev/on-delete',
  rollbackInBatch: 'rollouts.kruise.io/rollback-in-batch',
} as const

/** Annotation on a Rollout, and on a DaemonSet after an undo or restart: latest actions by REST and command line (JSON). */
export const RECORDED_ACTIONS_ANNOTATION = 'tranche.dev/recorded-actions'

/** Annotation on a Rollout: observed changes, which were written to its objects directly (JSON). */
export const OBSERVED_CHANGES_ANNOTATION = 'tranche.dev/observed-changes'

/** {@link OBSERVED_CHANGES_ANNOTATION} as the previous version named it. */
export const FORMER_OBSERVED_CHANGES_ANNOTATION = 'tranche.dev/seen-actions'

/** Annotation on a Rollout: copy of `status.heldRevisions`, in case the status is lost (JSON). */
export const HELD_REVISIONS_ANNOTATION = 'tranche.dev/held-revisions'

/** Annotation on a Rollout: what decides whether `status.failure` still stops the release, in case the status loses it (JSON). */
export const FAILURE_ANNOTATION = 'tranche.dev/failure'

/** Annotation on a Rollout: digests of the `nodes` of its steps, and of the steps without them, with their generation (JSON). */
export const STEP_NODES_ANNOTATION = 'tranche.dev/step-nodes'

/** Annotation on a Rollout: hash of the steps. Readers compare it with `canaryStatus.rolloutHash`. */
export const ROLLOUT_HASH_ANNOTATION = 'rollouts.kruise.io/hash'

/** Finalizer on a Rollout. */
export const ROLLOUT_FINALIZER = 'rollouts.kruise.io/rollout'
/** Finalizer on a BatchRelease (rule F11). */
export const BATCH_RELEASE_FINALIZER = 'rollouts.kruise.io/batch-release-finalizer'

/** Group and version of Rollout and BatchRelease. */
export const ROLLOUTS_API_VERSION = 'rollouts.kruise.io/v1beta1'

/** User agents and field managers of the programs. */
export const fieldManagers = {
  controller: 'tranche-controller',
  executor: 'tranche-executor',
  api: 'tranche-api',
  cli: 'tranche-cli',
} as const

/** Name of the Lease by which controllers elect their leader. */
export const LEASE_NAME = 'tranche-controller'
/** Default namespace of that Lease. */
export const LEASE_NAMESPACE = 'kube-system'

/** Label of a Secret that defines a hook for pipelines. Only the value `true` counts. */
export const HOOK_LABEL = 'tranche.dev/hook'
/** Annotations of such a Secret: the hook's Rollout or DaemonSet, and its allowed actions, separated by commas. */
export const hookAnnotations = {
  rollout: 'tranche.dev/hook-rollout',
  daemonSet: 'tranche.dev/hook-daemonset',
  actions: 'tranche.dev/hook-actions',
} as const
