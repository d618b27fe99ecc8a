import {
  analysisPhases,
  batchReleasePhases,
  eventReasons,
  failureActions,
  nodeStates,
  rolloutPhases,
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

/** Seconds from a request to an answer. */
const ANSWERS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]
/** Seconds for which a node, a batch or a step takes its time. */
const SPANS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 21_600, 86_400]

/**
 * `namespace/name`: only of Rollouts whose release is under way or that wait for a person, at most {@link EXPORTED_RELEASES_MAX}. One label, for
 * `namespace` is the one of the process, which Prometheus adds.
 */
const release = { rollout: 'open' } as const

/** Of how many Rollouts at a time gauges tell one by one; the first by namespace and name. */
export const EXPORTED_RELEASES_MAX = 100

/**
 * Every metric of controller and executor: its name, what it means, and the values that its labels may have. No label names a
 * node, a pod or a person.
 */
export const metricCatalog = {
  tranche_build_info: {
    type: 'gauge',
    help: 'Always 1; the label says which version runs.',
    labels: { version: 'open' },
  },
  tranche_leader: { type: 'gauge', help: 'Whether this controller acts: it leads, or runs without leader election.', labels: {} },
  tranche_rollouts: {
    type: 'gauge',
    help: 'Rollouts by phase; none: no controller has seen it yet. Told by the leader.',
    labels: { phase: ['none', ...rolloutPhases] },
  },
  tranche_releases: {
    type: 'gauge',
    help: 'BatchReleases, which are the releases under way, by phase; none: not looked at yet. Told by the leader.',
    labels: { phase: ['none', ...batchReleasePhases] },
  },
  tranche_release_nodes: {
    type: 'gauge',
    help: 'Desired nodes of a release under way by what they are to it. Told by the leader.',
    labels: { ...release, state: nodeStates },
  },
  tranche_release_leaked_nodes: {
    type: 'gauge',
    help: 'Nodes that came to the new version by other hands. Told by the leader.',
    labels: release,
  },
  tranche_release_budget_allowed_nodes: {
    type: 'gauge',
    help: 'Nodes that may be down at a time. Told by the leader.',
    labels: release,
  },
  tranche_release_budget_used_nodes: {
    type: 'gauge',
    help: 'Desired nodes without an available pod, whoever took it. Told by the leader.',
    labels: release,
  },
  tranche_release_permits: {
    type: 'gauge',
    help: 'Permits in the record that have not settled. Told by the leader.',
    labels: release,
  },
  tranche_release_still_seconds: {
    type: 'gauge',
    help: 'Since when a release that waits for nobody has moved no node: seconds since its counts last changed, as this leader has seen. Told by the leader.',
    labels: release,
  },
  tranche_release_need_seconds: {
    type: 'gauge',
    help: 'For how long a person has been waited for, and why. Told by the leader.',
    labels: { ...release, reason: ['StepPaused', 'Paused', ...stalledReasons] },
  },
  tranche_step_seconds: {
    type: 'histogram',
    help: 'How long steps stood in each of their states, by the stamps in the status.',
    labels: { state: stepStates },
    buckets: SPANS,
  },
  tranche_batch_seconds: {
    type: 'histogram',
    help: 'How long batches took until they were ready; of those whose beginning this leader has seen.',
    labels: {},
    buckets: SPANS,
  },
  tranche_node_down_seconds: {
    type: 'histogram',
    help: 'How long nodes had no Ready pod during a release: release, where the pod that went had a permit of ours; other, where somebody else took it.',
    labels: { cause: ['release', 'other'] },
    buckets: SPANS,
  },
  tranche_verdicts_total: {
    type: 'counter',
    help: 'Releases whose new version was found to be bad, by what was done about it.',
    labels: { action: failureActions },
  },
  tranche_analyses_total: {
    type: 'counter',
    help: 'Analyses that ended, by what came of them.',
    labels: { phase: analysisPhases.filter((phase) => phase !== 'Running') },
  },
  tranche_events_total: {
    type: 'counter',
    help: 'Events that were recorded, those that were combined with earlier ones too.',
    labels: { type: ['Normal', 'Warning'], reason: eventReasons },
  },
  tranche_definitions_outdated: {
    type: 'gauge',
    help: 'Whether the API server drops fields of ours, because its CustomResourceDefinitions are older than this program.',
    labels: {},
  },
  tranche_deletes_total: {
    type: 'counter',
    help: 'Deletions of pods by permit that were sent: accepted; refused, for the pod was no longer as it was chosen; failed, without a clear answer or without the right.',
    labels: { result: ['accepted', 'refused', 'failed'] },
  },
  tranche_permits_total: {
    type: 'counter',
    help: 'Permits that were written into a record, or taken out of it.',
    labels: { change: ['appended', 'removed'] },
  },
  tranche_record_writes_total: {
    type: 'counter',
    help: 'Writes of permit records; overtaken: somebody else had written first.',
    labels: { program: programs, result: ['written', 'overtaken', 'failed'] },
  },
  tranche_passes_total: {
    type: 'counter',
    help: 'Passes by how they ended; retry: failed, and comes again by itself; unmended: failed until somebody acts.',
    labels: { controller: [...lanes, 'partition-executor'], outcome: ['awaitChange', 'recheckAfter', 'retry', 'unmended', 'stopped'] },
  },
  tranche_pass_seconds: {
    type: 'histogram',
    help: 'How long passes took.',
    labels: { controller: [...lanes, 'partition-executor'] },
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60],
  },
  tranche_queue_keys: {
    type: 'gauge',
    help: 'Keys in the queues of the leader, and in the job queue that executors share (jobs), where it answers.',
    labels: { queue: [...lanes, 'jobs'], state: ['waiting', 'delayed', 'active'] },
  },
  tranche_queue_wait_seconds: {
    type: 'histogram',
    help: 'How long keys were due before somebody took them up.',
    labels: { queue: [...lanes, 'jobs'] },
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300],
  },
  tranche_webhook_reviews_total: {
    type: 'counter',
    help: 'Reviews that the API server has asked the webhooks for, by what was answered; failed: it was answered with an error.',
    labels: { webhook: webhooks, outcome: ['allowed', 'changed', 'refused', 'failed'] },
  },
  tranche_webhook_review_seconds: {
    type: 'histogram',
    help: 'How long reviews took; the API server waits for 5 seconds.',
    labels: { webhook: webhooks },
    buckets: ANSWERS,
  },
  tranche_webhook_certificate_left_seconds: {
    type: 'gauge',
    help: 'How long the certificate of the webhooks is still good; below 0 it has expired.',
    labels: {},
  },
  tranche_kube_requests_total: {
    type: 'counter',
    help: 'Requests to the API server by the code of the answer; none: no answer came.',
    labels: { program: programs, verb: [...verbs, 'other'], resource: [...resources, 'other'], code: [...codes, 'other'] },
  },
  tranche_kube_request_seconds: {
    type: 'histogram',
    help: 'How long the API server took to begin its answers.',
    labels: { program: programs, verb: [...verbs, 'other'] },
    buckets: ANSWERS,
  },
  tranche_watch_silence_seconds: {
    type: 'gauge',
    help: 'Since when the API server has sent nothing on the watch of a resource; it sends something once a minute.',
    labels: { program: programs, resource: [...resources, 'other'] },
  },
  tranche_watch_lag_seconds: {
    type: 'histogram',
    help: 'From the answer to a write of ours until our own watch showed it.',
    labels: { program: programs, resource: [...resources, 'other'] },
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>

/** Name of a metric. */
export type MetricName = keyof typeof metricCatalog
