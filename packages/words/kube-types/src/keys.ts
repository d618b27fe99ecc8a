/** Annotations on a bound DaemonSet. Values and writers: docs/architecture.md. */
export const daemonSetAnnotations = {
  /** `controller-revision-hash` being released. */
  canaryRevision: 'rollouts.kruise.io/daemonset-canary-revision',
  /** `controller-revision-hash` of the last good revision. */
  stableRevision: 'rollouts.kruise.io/daemonset-stable-revision',
  /** Whole number in a string: nodes to keep on the old revision. */
  partition: 'rollouts.kruise.io/daemonset-partition',
  /** `"true"`: the executor must not delete. */
  paused: 'tranche.dev/paused',
  /** Owner reference JSON of the BatchRelease in charge. */
  controlInfo: 'batchrelease.rollouts.kruise.io/control-info',
  /** `{"rolloutName":"x"}` while a release runs. */
  inProgressing: 'rollouts.kruise.io/in-progressing',
  /** `RollingUpdate` or `OnDelete`: the type to restore. Written once, never overwritten. */
  originalUpdateStrategy: 'rollouts.kruise.io/daemonset-original-update-strategy',
  /** Name of the Rollout bound to the DaemonSet. */
  rollout: 'tranche.dev/rollout',
  /** When the hold was made for which the template was put back: it is put back once for each. */
  reverted: 'tranche.dev/reverted',
  /** JSON: what was left where, after disable or delete. */
  frozen: 'tranche.dev/frozen',
  /** JSON: nodes on which a release that let go had deleted pods, and that had no available one yet; the next release inherits them. */
  unsettled: 'tranche.dev/unsettled',
} as const

/**
 * Annotations of OpenKruise's own controller on a DaemonSet in the middle of a release of its own; taken away when we take
 * the release over, for they mean nothing any more.
 */
export const kruiseAnnotations = {
  /** JSON: canary and stable revision. */
  revision: 'rollouts.kruise.io/daemonset-revision',
  /** JSON: how many pods to keep, and the revision of the batch. */
  advancedControl: 'rollouts.kruise.io/daemonset-advanced-control',
} as const

/** Label on a bound DaemonSet; its value is {@link WORKLOAD_TYPE_DAEMONSET}. */
export const WORKLOAD_TYPE_LABEL = 'rollouts.kruise.io/workload-type'
/** Value of {@link WORKLOAD_TYPE_LABEL}. */
export const WORKLOAD_TYPE_DAEMONSET = 'daemonset'

/** Label on the DaemonSet (set by the user) and on pods of a release. */
export const ROLLOUT_ID_LABEL = 'rollouts.kruise.io/rollout-id'
/** Label on pods of a release: 1-based number of the batch, decimal. */
export const ROLLOUT_BATCH_ID_LABEL = 'rollouts.kruise.io/rollout-batch-id'
/** Label on pods of a release: id of the release in which the pod came up without a permit for its node. */
export const LEAKED_LABEL = 'tranche.dev/leaked'
/** Annotation on pods: a random value that moves `resourceVersion` (rule F7). */
export const TOUCHED_ANNOTATION = 'tranche.dev/touched'
/** Label of Kubernetes on pods and ControllerRevisions: identity of the revision. */
export const REVISION_HASH_LABEL = 'controller-revision-hash'

/** Label on ControllerRevisions whose template is refused at admission (`failure.onReapply: Deny`); only the value `true` counts. */
export const REFUSED_LABEL = 'tranche.dev/refused'

/** Label on Secrets that policies may use; its value is {@link POLICY_SECRET}. Who puts it there lends the Secret to whoever writes policies. */
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

/** Annotation on a Rollout, and on a DaemonSet that was undone or restarted: the latest actions over REST and the command line (JSON). */
export const RECORDED_ACTIONS_ANNOTATION = 'tranche.dev/recorded-actions'

/** Annotation on a Rollout: what was written past us, as the controller saw it (JSON). */
export const OBSERVED_CHANGES_ANNOTATION = 'tranche.dev/seen-actions'

/** Annotation of ours on a Rollout: what `status.heldRevisions` remembers, for when the status is lost (JSON). */
export const HELD_REVISIONS_ANNOTATION = 'tranche.dev/held-revisions'

/** Annotation of ours on a Rollout: hash of the steps, as readers compare it with `canaryStatus.rolloutHash`. */
export const ROLLOUT_HASH_ANNOTATION = 'rollouts.kruise.io/hash'

/** Finalizer on a Rollout. */
export const ROLLOUT_FINALIZER = 'rollouts.kruise.io/rollout'
/** Finalizer on a BatchRelease (rule F11). */
export const BATCH_RELEASE_FINALIZER = 'rollouts.kruise.io/batch-release-finalizer'

/** Group and version of Rollout and BatchRelease. */
export const ROLLOUTS_API_VERSION = 'rollouts.kruise.io/v1beta1'

/** Names under which our programs act: user agents and field managers. */
export const fieldManagers = {
  controller: 'tranche-controller',
  executor: 'tranche-executor',
  api: 'tranche-api',
  cli: 'tranche-cli',
} as const

/** Label of a Secret that makes a hook for pipelines; only the value `true` counts. */
export const HOOK_LABEL = 'tranche.dev/hook'
/** What such a Secret says: for which Rollout the hook is, or for that of which DaemonSet, and what it may ask for, parted by commas. */
export const hookAnnotations = {
  rollout: 'tranche.dev/hook-rollout',
  daemonSet: 'tranche.dev/hook-daemonset',
  actions: 'tranche.dev/hook-actions',
} as const
