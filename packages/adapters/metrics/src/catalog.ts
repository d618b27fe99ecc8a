import {
  analysisPhases,
  batchReleasePhases,
  eventReasons,
  failureActions,
  nodeStates,
  rolloutPhases,
  personWaitReasons,
  stalledReasons,
  stepStates,
} from '@tranche/api-schema'
import type { MetricDefinition } from './metric-definition.ts'

const programs = ['controller', 'executor'] as const
const resources = [
  'nodes',
  'pods',
  'secrets',
  'events',
  'daemonsets',
  'controllerrevisions',
  'leases',
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'customresourcedefinitions',
  'rollouts',
  'releasepolicies',
  'batchreleases',
] as const
const codes = ['none', '200', '201', '400', '401', '403', '404', '409', '410', '422', '429', '500', '502', '503', '504'] as const
const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] as const
const webhooks = ['daemonsets', 'reapply', 'rollouts', 'rollout-status'] as const
const lanes = ['rollout', 'batch-release', 'analysis', 'release-policy', 'notify'] as const

/** Buckets from a request to its response, in seconds. */
const ANSWERS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]
/** Buckets of the time that a node, batch or step takes, in seconds. */
const SPANS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 21_600, 86_400]

/**
 * `namespace/name`, only of Rollouts with a release in progress or waiting for a person, at most {@link EXPORTED_RELEASES_MAX}. One label,
 * because `namespace` is that of the process, which Prometheus adds.
 */
const release = { rollout: 'open' } as const

/** Maximum number of Rollouts with gauges of their own; the first by namespace and name. */
export const EXPORTED_RELEASES_MAX = 100

/** Every metric of controller and executor: name, help, and allowed label values. No label names a node, a pod or a person. */
export const metricCatalog = {
  tranche_build_info: {
    type: 'gauge',
    help: 'Always 1. The label is the version that runs.',
    labels: { version: 'open' },
  },
  tranche_leader: {
    type: 'gauge',
    help: 'Whether this controller acts (1 or 0). It acts if it leads or leader election is off.',
    labels: {},
  },
  tranche_rollouts: {
    type: 'gauge',
    help: 'Rollouts by phase. none: not reconciled yet. Exported by the leader.',
    labels: { phase: ['none', ...rolloutPhases] },
  },
  tranche_releases: {
    type: 'gauge',
    help: 'BatchReleases (releases in progress) by phase. none: not reconciled yet. Exported by the leader.',
    labels: { phase: ['none', ...batchReleasePhases] },
  },
  tranche_release_nodes: {
    type: 'gauge',
    help: 'Desired nodes of a release in progress, by state. Exported by the leader.',
    labels: { ...release, state: nodeStates },
  },
  tranche_release_leaked_nodes: {
    type: 'gauge',
    help: 'Nodes that run the new version without a permit from Tranche. Exported by the leader.',
    labels: release,
  },
  tranche_release_budget_allowed_nodes: {
    type: 'gauge',
    help: 'Maximum number of nodes that may be down at the same time. Exported by the leader.',
    labels: release,
  },
  tranche_release_budget_used_nodes: {
    type: 'gauge',
    help: 'Desired nodes without an available pod, for any cause. Exported by the leader.',
    labels: release,
  },
  tranche_release_permits: {
    type: 'gauge',
    help: 'Permits in the record, settled ones included until its next write. Exported by the leader.',
    labels: release,
  },
  tranche_release_still_seconds: {
    type: 'gauge',
    help: 'Seconds since the node counts of a release last changed, as seen by this leader; absent while it waits for a person. Exported by the leader.',
    labels: release,
  },
  tranche_release_need_seconds: {
    type: 'gauge',
    help: 'Seconds for which a Rollout has waited for a person, by reason. Exported by the leader.',
    labels: { ...release, reason: ['StepPaused', 'Paused', ...stalledReasons, ...personWaitReasons] },
  },
  tranche_step_seconds: {
    type: 'histogram',
    help: 'Seconds that steps spent in each state, from the timestamps in the status.',
    labels: { state: stepStates },
    buckets: SPANS,
  },
  tranche_batch_seconds: {
    type: 'histogram',
    help: 'Seconds until batches were ready. Covers batches that started under this leader.',
    labels: {},
    buckets: SPANS,
  },
  tranche_node_down_seconds: {
    type: 'histogram',
    help: 'Seconds that nodes had no Ready pod during a release. release: a permit covered the deleted pod. other: something else removed it.',
    labels: { cause: ['release', 'other'] },
    buckets: SPANS,
  },
  tranche_verdicts_total: {
    type: 'counter',
    help: 'Releases whose new version failed, by the failure action.',
    labels: { action: failureActions },
  },
  tranche_analyses_total: {
    type: 'counter',
    help: 'Finished analyses, by result.',
    labels: { phase: analysisPhases.filter((phase) => phase !== 'Running') },
  },
  tranche_events_total: {
    type: 'counter',
    help: 'Recorded events, including those aggregated into earlier ones.',
    labels: { type: ['Normal', 'Warning'], reason: eventReasons },
  },
  tranche_definitions_outdated: {
    type: 'gauge',
    help: 'Whether the API server drops fields (1 or 0), because its CustomResourceDefinitions are older than this program.',
    labels: {},
  },
  tranche_deletes_total: {
    type: 'counter',
    help: 'Pod deletions sent under a permit. accepted; refused: the pod had changed since it was chosen; failed: no clear answer, or permission missing.',
    labels: { result: ['accepted', 'refused', 'failed'] },
  },
  tranche_permits_total: {
    type: 'counter',
    help: 'Permits appended to records or removed from them.',
    labels: { change: ['appended', 'removed'] },
  },
  tranche_record_writes_total: {
    type: 'counter',
    help: 'Writes of permit records. overtaken: another writer was first.',
    labels: { program: programs, result: ['written', 'overtaken', 'failed'] },
  },
  tranche_passes_total: {
    type: 'counter',
    help: 'Reconcile passes by outcome. retry: failed, retries by itself. awaitFix: failed until a person acts.',
    labels: { controller: [...lanes, 'partition-executor'], outcome: ['awaitChange', 'recheckAfter', 'retry', 'awaitFix', 'stopped'] },
  },
  tranche_pass_seconds: {
    type: 'histogram',
    help: 'Duration of reconcile passes in seconds.',
    labels: { controller: [...lanes, 'partition-executor'] },
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60],
  },
  tranche_queue_keys: {
    type: 'gauge',
    help: "Keys in the leader's queues, and in the job queue that executors share (jobs) if it answers.",
    labels: { queue: [...lanes, 'jobs'], state: ['waiting', 'delayed', 'active'] },
  },
  tranche_queue_wait_seconds: {
    type: 'histogram',
    help: 'Seconds from when a key was due until a worker took it.',
    labels: { queue: [...lanes, 'jobs'] },
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300],
  },
  tranche_webhook_reviews_total: {
    type: 'counter',
    help: 'Admission reviews by outcome. failed: the webhook answered with an error.',
    labels: { webhook: webhooks, outcome: ['allowed', 'changed', 'refused', 'failed'] },
  },
  tranche_webhook_review_seconds: {
    type: 'histogram',
    help: 'Duration of admission reviews in seconds. The API server waits 5 seconds.',
    labels: { webhook: webhooks },
    buckets: ANSWERS,
  },
  tranche_webhook_certificate_left_seconds: {
    type: 'gauge',
    help: 'Seconds until the webhook certificate expires. Below 0: expired.',
    labels: {},
  },
  tranche_kube_requests_total: {
    type: 'counter',
    help: 'Requests to the API server by response code. none: no response.',
    labels: { program: programs, verb: [...verbs, 'other'], resource: [...resources, 'other'], code: [...codes, 'other'] },
  },
  tranche_kube_request_seconds: {
    type: 'histogram',
    help: 'Seconds until the API server began its response.',
    labels: { program: programs, verb: [...verbs, 'other'] },
    buckets: ANSWERS,
  },
  tranche_watch_silence_seconds: {
    type: 'gauge',
    help: 'Seconds since the API server last sent anything on the watch of a resource. It sends a bookmark about once a minute.',
    labels: { program: programs, resource: [...resources, 'other'] },
  },
  tranche_watch_lag_seconds: {
    type: 'histogram',
    help: 'Seconds from the response to a write of this process until its own watch showed the change.',
    labels: { program: programs, resource: [...resources, 'other'] },
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>

/** Name of a metric. */
export type MetricName = keyof typeof metricCatalog
