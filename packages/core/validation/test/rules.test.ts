import type { BatchRelease, CanaryStatus, ReleasePolicySpec, Rollout, RolloutStatus } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import {
  adviseBatchRelease,
  adviseConfig,
  adviseDaemonSet,
  advisePinnedConfig,
  adviseRollout,
  type AdviceRule,
  adviceRules,
  checkBatchRelease,
  checkDocuments,
  checkPolicy,
  checkRollout,
  downtimeAdvice,
  drainAdvice,
  groupAdvice,
  nodeLockAdvice,
  pinAdvice,
  podPolicyAdvice,
  prePullAdvice,
  roomAdvice,
  type Problem,
  type ProblemRule,
  problemRules,
  validateBinding,
  validateChange,
  validateDaemonSetBudget,
  validateKeys,
  validateRollout,
  validateStatusChange,
} from '@tranche/validation'
import { describe, expect, it } from 'vitest'
import { batchReleaseWith } from './batch-releases.ts'
import { policyWith } from './policies.ts'
import { rolloutAnnotated, rolloutInSteps, rolloutWith } from './rollouts.ts'

const workloadRef = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'node-agent' }
const steps = [{ replicas: '100%' }]
const canaryStatus: CanaryStatus = {
  podTemplateHash: '7c9f',
  currentStepIndex: 1,
  nextStepIndex: 2,
  finalisingStep: '',
  currentStepState: 'StepPaused',
  canaryRevision: '7c9f',
  canaryReplicas: 3,
  canaryReadyReplicas: 3,
}
const status: RolloutStatus = {
  phase: 'Progressing',
  stableRevision: '4b3a',
  currentStepIndex: 1,
  currentStepState: 'StepPaused',
  canaryStatus,
}
const running = rolloutWith({ status })

const asking = {
  name: 'error-rate',
  prometheus: { address: 'https://prometheus.example.com', query: 'sum(rate(errors_total[5m]))' },
  successCondition: 'result[0] < 0.05',
}
const receiver = { name: 'on-call', webhook: { url: 'https://hooks.example.com/tranche' } }

/** One breach of each rule; the type checker requires all of them. */
const breaches: Readonly<Record<ProblemRule, () => readonly Problem[]>> = {
  RolloutField: () => inRollout({ ...rolloutWith(), spec: { ...rolloutWith().spec, disabled: 'no' } }),
  RolloutVersion: () => inDocument({ ...rolloutWith(), apiVersion: 'rollouts.kruise.io/v1alpha1', kind: 'Rollout' }),
  RolloutSize: () => inCanary({ steps: [{ replicas: 1, nodes: { matchLabels: numbered(51) } }, { replicas: '100%' }] }),
  WorkloadVersion: () => inRollout(rolloutWith({ spec: { workloadRef: { ...workloadRef, apiVersion: 'apps/v1beta2' } } })),
  WorkloadName: () => inRollout(rolloutWith({ spec: { workloadRef: { ...workloadRef, name: '' } } })),
  WorkloadTaken: () => validateBinding(rolloutWith({ metadata: { name: 'second' } }), [rolloutWith({ metadata: { name: 'first' } })], null),
  WorkloadFrozen: () => validateChange(running, rolloutWith({ spec: { workloadRef: { ...workloadRef, name: 'other' } } })),
  StrategyMissing: () => inRollout(rolloutWith({ spec: { strategy: {} } })),
  BlueGreen: () => inRollout(rolloutWith({ spec: { strategy: { blueGreen: { steps } } } })),
  StepsMissing: () => inRollout(rolloutInSteps()),
  StepsTooMany: () => validateRollout(rolloutInSteps(...Array.from({ length: 51 }, () => ({ replicas: 1 })))),
  StepsFrozen: () => validateChange(running, rolloutInSteps({ replicas: 1 })),
  StepSize: () => inRollout(rolloutInSteps({ replicas: 0 })),
  StepNodes: () => inRollout(rolloutInSteps({ nodes: { matchLabels: { pool: 'a b' } } })),
  StepShrinks: () => inRollout(rolloutInSteps({ replicas: 5 }, { replicas: 3 })),
  PauseNegative: () => inRollout(rolloutInSteps({ replicas: 1, pause: { duration: -1 } })),
  StepTraffic: () => inRollout(rolloutInSteps({ replicas: 1, traffic: '5%' })),
  StepHeaders: () => inRollout(rolloutInSteps({ replicas: 1, requestHeaderModifier: {} })),
  StepMatches: () => inRollout(rolloutInSteps({ replicas: 1, matches: [] })),
  TrafficRoutings: () => inCanary({ trafficRoutings: [{ service: 'web' }] }),
  TrafficRoutingRef: () => inCanary({ trafficRoutingRef: 'web' }),
  TemplateMetadata: () => inCanary({ patchPodTemplateMetadata: {} }),
  FailureThreshold: () => inCanary({ failureThreshold: 'few' }),
  Action: () => inRollout(rolloutAnnotated({ 'tranche.dev/action': 'approve' })),
  OnDelete: () => inRollout(rolloutAnnotated({ 'tranche.dev/on-delete': 'Abort' })),
  PolicyName: () => inRollout(rolloutAnnotated({ 'tranche.dev/release-policy': '' })),
  RollbackInBatch: () => inRollout(rolloutAnnotated({ 'rollouts.kruise.io/rollback-in-batch': 'yes' })),
  StatusStepState: () => inStatus({ currentStepState: 'StepUpgrade' }),
  StatusNextStep: () => inStatus({ nextStepIndex: 3 }),
  StatusOthers: () => validateStatusChange(running, rolloutWith({ status: { ...status, stableRevision: '5d4f' } })),
  BatchReleaseVersion: () => inDocument({ ...batchReleaseWith(), apiVersion: 'rollouts.kruise.io/v1alpha1', kind: 'BatchRelease' }),
  BatchReleaseField: () => inBatchRelease({ ...batchReleaseWith(), spec: { ...batchReleaseWith().spec, tranche: { paused: 3 } } }),
  BatchReleaseSize: () => inBatchRelease(batchReleaseWith({}, { tranche: { nodes: { steps: Array.from({ length: 51 }, () => ({})) } } })),
  BatchWorkload: () => inBatchRelease(batchReleaseWith({}, { workloadRef: undefined })),
  BatchWorkloadVersion: () => inBatchRelease(batchReleaseWith({}, { workloadRef: { ...workloadRef, apiVersion: 'apps/v2' } })),
  BatchWorkloadName: () => inBatchRelease(batchReleaseWith({}, { workloadRef: { ...workloadRef, name: '-' } })),
  BatchesMissing: () => inBatchRelease(batchReleaseWith({ batches: [] })),
  BatchesTooMany: () => inBatchRelease(batchReleaseWith({ batches: Array.from({ length: 51 }, () => ({ canaryReplicas: 1 })) })),
  BatchSize: () => inBatchRelease(batchReleaseWith({ batches: [{ canaryReplicas: '0%' }] })),
  BatchShrinks: () => inBatchRelease(batchReleaseWith({ batches: [{ canaryReplicas: 2 }, { canaryReplicas: 1 }] })),
  BatchPartition: () => inBatchRelease(batchReleaseWith({ batchPartition: 2 })),
  BatchFailureThreshold: () => inBatchRelease(batchReleaseWith({ failureThreshold: '200%' })),
  RolloutId: () => inBatchRelease(batchReleaseWith({ rolloutID: 'a b' })),
  RollingStyle: () => inBatchRelease(batchReleaseWith({ rollingStyle: 'Canary' })),
  BatchTemplateMetadata: () => inBatchRelease(batchReleaseWith({ patchPodTemplateMetadata: {} })),
  TrancheCanaryRevision: () => inBatchRelease(batchReleaseWith({}, { tranche: { canaryRevision: '' } })),
  TrancheStableRevision: () => inBatchRelease(batchReleaseWith({}, { tranche: { stableRevision: '?' } })),
  TranchePolicy: () => inBatchRelease(batchReleaseWith({}, { tranche: { nodes: { steps: [{ matchLabels: { 'a b': '' } }] } } })),
  PolicyField: () => inPolicy({ soak: { steps: '5m' } }),
  PolicyVersion: () => inDocument({ ...policyWith({}), apiVersion: 'tranche.dev/v1', kind: 'ReleasePolicy' }),
  PolicyMaxUnavailable: () => inPolicy({ maxUnavailable: 0 }),
  PolicyThreshold: () => inPolicy({ failure: { maxFailedNodes: '101%' } }),
  PolicyNumber: () => inPolicy({ failure: { maxRestarts: -1 } }),
  PolicyDuration: () => inPolicy({ soak: { step: '5 minutes' } }),
  PolicyText: () => inPolicy({ notify: [{ ...receiver, template: ' ' }] }),
  PolicySize: () =>
    inPolicy({ nodes: { spread: Array.from({ length: 11 }, (_, zone) => ({ topologyKey: `zone-${zone}`, maxUnavailable: 1 })) } }),
  PolicySelector: () => inPolicy({ nodes: { exclude: [{ matchExpressions: [{ key: 'pool', operator: 'In' }] }] } }),
  PolicyUrl: () => inPolicy({ analysis: [{ ...asking, prometheus: { address: 'prometheus:9090', query: 'up' } }] }),
  PolicyHeader: () => inPolicy({ notify: [{ ...receiver, webhook: { url: 'https://hooks.example.com', headers: [{ name: 'X-Team' }] } }] }),
  PolicySecret: () => inPolicy({ notify: [{ name: 'chat', slack: { url: { name: 'Slack', key: 'url' } } }] }),
  PolicyTemplate: () => inPolicy({ notify: [{ ...receiver, template: '{{version}}' }] }),
  NodeOrderKey: () => inPolicy({ nodes: { order: [{}] } }),
  NodeOrderIdle: () => inPolicy({ nodes: { order: [{ by: 'Oldest' }, { by: 'Newest' }] } }),
  ExcludeAll: () => inPolicy({ nodes: { exclude: [{}] } }),
  SpreadKey: () => inPolicy({ nodes: { spread: [{ topologyKey: 'a zone', maxUnavailable: 1 }] } }),
  FailureReason: () => inPolicy({ failure: { ignoreReasons: ['image pull'] } }),
  AutoResume: () => inPolicy({ failure: { action: 'Rollback', autoResume: '5m' } }),
  DrainIdle: () => inPolicy({ drain: { cordon: false } }),
  DrainConsumer: () => inPolicy({ drain: { consumers: [{}] } }),
  DrainAll: () => inPolicy({ drain: { consumers: [{ selector: { matchLabels: {} } }] } }),
  DrainDriver: () => inPolicy({ drain: { consumers: [{ csiDriver: 'ebs csi' }] } }),
  DrainResource: () => inPolicy({ drain: { consumers: [{ extendedResource: 'cpu' }] } }),
  AnalysisName: () => inPolicy({ analysis: [asking, asking] }),
  AnalysisSource: () => inPolicy({ analysis: [{ ...asking, http: { url: 'https://canary.example.com' }, prometheus: asking.prometheus }] }),
  AnalysisQuery: () => inPolicy({ analysis: [{ ...asking, prometheus: { ...asking.prometheus, query: 'rat(errors[5m])' } }] }),
  AnalysisPoints: () => inPolicy({ analysis: [{ ...asking, prometheus: { ...asking.prometheus, range: '5m', step: '10m' } }] }),
  AnalysisBody: () =>
    inPolicy({ analysis: [{ name: 'check', http: { url: 'https://canary.example.com', body: '{}' }, successCondition: 'true' }] }),
  AnalysisCondition: () => inPolicy({ analysis: [{ ...asking, successCondition: 'resul[0] < 1' }] }),
  AnalysisArgument: () => inPolicy({ analysis: [{ ...asking, args: [{ name: 'nodes', value: '' }] }] }),
  AnalysisSteps: () => inPolicy({ analysis: [{ ...asking, steps: [0] }] }),
  AnalysisLimit: () => inPolicy({ analysis: [{ ...asking, count: 3, failureLimit: 3 }] }),
  GroupName: () => inPolicy({ downtime: { group: 'Node agents' } }),
  ReceiverName: () => inPolicy({ notify: [{ ...receiver, name: 'On call' }] }),
  ReceiverTarget: () => inPolicy({ notify: [{ ...receiver, slack: { url: { name: 'slack', key: 'url' } } }] }),
  ReceiverEvents: () => inPolicy({ notify: [{ ...receiver, events: [] }] }),
  ReceiverReminder: () => inPolicy({ notify: [{ ...receiver, events: ['Stalled'], remindAfter: '30m' }] }),
  TrancheBudget: () => validateDaemonSetBudget(daemonSet({}), 10, 0),
  BudgetSurge: () => validateDaemonSetBudget(daemonSet({ updateStrategy: { rollingUpdate: { maxSurge: 1 } } }), 10),
  BudgetNothing: () => validateDaemonSetBudget(daemonSet({ updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } }), 10),
  BudgetUnreadable: () => validateDaemonSetBudget(daemonSet({ updateStrategy: { rollingUpdate: { maxUnavailable: 'x' } } }), 10),
  KeyPartition: () => keyed('rollouts.kruise.io/daemonset-partition'),
  KeyCanaryRevision: () => keyed('rollouts.kruise.io/daemonset-canary-revision'),
  KeyStableRevision: () => keyed('rollouts.kruise.io/daemonset-stable-revision'),
  KeyControlInfo: () => keyed('batchrelease.rollouts.kruise.io/control-info'),
  KeyInProgressing: () => keyed('rollouts.kruise.io/in-progressing'),
  KeyOriginalStrategy: () => keyed('rollouts.kruise.io/daemonset-original-update-strategy'),
  KeyPaused: () => keyed('tranche.dev/paused'),
  KeyRollout: () => keyed('tranche.dev/rollout'),
  KeyFrozen: () => keyed('tranche.dev/frozen'),
  KeyReverted: () => keyed('tranche.dev/reverted'),
  KeyUnsettled: () => keyed('tranche.dev/unsettled'),
  MoreProblems: () => inCanary({ steps: Array.from({ length: 30 }, () => ({ replicas: 0 })) }).slice(-1),
}

const signed = { ...receiver, webhook: { ...receiver.webhook, hmac: { name: 'pager', key: 'hmac' } } }
const policyKind = { apiVersion: 'tranche.dev/v1alpha1', kind: 'ReleasePolicy' }
const policed = {
  ...rolloutAnnotated({ 'tranche.dev/release-policy': 'strict' }),
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'Rollout',
}

function adviceOf(documents: readonly unknown[], at: number) {
  return checkDocuments(documents)[at]!.advice
}

const surprises: Readonly<Record<AdviceRule, () => readonly { readonly rule: string; readonly path: string }[]>> = {
  MoreAdvice: () =>
    adviceOf(
      [
        {
          ...policyWith({ analysis: [{ ...asking, steps: Array.from({ length: 40 }, (_, n) => n + 2) }] }),
          metadata: { name: 'strict', namespace: 'demo' },
          ...policyKind,
        },
        policed,
      ],
      0,
    ).slice(-1),
  KindNearMiss: () => adviceOf([{ ...policed, kind: 'rollout' }], 0),
  ApiVersionNearMiss: () => adviceOf([{ ...policed, apiVersion: 'rollout.kruise.io/v1beta1' }], 0),
  OtherWorkload: () => adviseRollout(rolloutWith({ spec: { workloadRef: { ...workloadRef, kind: 'Deployment' } } })),
  WorkloadAbsent: () => adviseRollout(rolloutWith(), { desired: null, workloadExists: false }),
  PolicyAbsent: () => adviceOf([{ ...policyWith({}), ...policyKind }, policed], 1),
  SizeAboveFleet: () => adviseRollout(rolloutInSteps({ replicas: 31 }), { desired: 30, workloadExists: true }),
  LastStepBelowAll: () => adviseRollout(rolloutInSteps({ replicas: '10%' })),
  ExtraWorkload: () => adviseRollout(rolloutWith({ spec: { strategy: { canary: { steps, enableExtraWorkloadForCanary: true } } } })),
  CanaryService: () => adviseRollout(rolloutWith({ spec: { strategy: { canary: { steps, disableGenerateCanaryService: true } } } })),
  BatchOtherWorkload: () => adviseBatchRelease(batchReleaseWith({}, { workloadRef: { ...workloadRef, kind: 'Deployment' } })),
  BatchPartitionAbsent: () => adviseBatchRelease(batchReleaseWith({ batchPartition: undefined })),
  BatchExtraWorkload: () => adviseBatchRelease(batchReleaseWith({ enableExtraWorkloadForCanary: true })),
  HeaderInClear: () =>
    checkPolicy(
      policyWith({
        analysis: [{ ...asking, prometheus: { ...asking.prometheus, headers: [{ name: 'Authorization', value: 'Bearer x' }] } }],
      }),
    ).advice,
  PerBatchUnused: () => checkPolicy(policyWith({ failure: { maxFailedNodes: 1, maxFailedNodesPerBatch: 2 } })).advice,
  AnalysisBeyondSteps: () =>
    adviceOf(
      [
        { ...policyWith({ analysis: [{ ...asking, steps: [2, 3] }] }), metadata: { name: 'strict', namespace: 'demo' }, ...policyKind },
        policed,
      ],
      0,
    ),
  SecretUnusable: () =>
    adviceOf(
      [
        { ...policyWith({ notify: [signed] }), ...policyKind },
        { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'demo' } },
      ],
      0,
    ),
  RoomNotAllowed: () => [roomAdvice('Check')],
  GroupNotAllowed: () => [groupAdvice('agents')],
  PrePullNotAllowed: () => [prePullAdvice({})],
  DrainNotAllowed: () => [drainAdvice({}, 'demo')],
  NodeLockNotAllowed: () => [nodeLockAdvice('Take', 'demo')],
  PinNotAllowed: () => [pinAdvice()],
  PodPolicyMissing: () => [podPolicyAdvice('there is none')],
  DowntimeNotAllowed: () => [downtimeAdvice('1m')],
  HostNotAllowed: () => checkDocuments([{ ...policyWith({ notify: [receiver] }), ...policyKind }], { isAllowed: () => false })[0]!.advice,
  NativeMoment: () => adviseDaemonSet(daemonSet({})),
  HistoryGone: () => adviseDaemonSet(daemonSet({ updateStrategy: { type: 'OnDelete' }, revisionHistoryLimit: 0 })),
  ConfigUnversioned: () => adviseConfig(readingConfig({}), []),
  ConfigChecksumOnly: () => adviseConfig(readingConfig({ 'checksum/config': '9f86d081' }), []),
  PinSecretUnknown: () => pinAdviceAbout({ secret: { secretName: 'token' } }),
  PinNotForDriver: () => pinAdviceAbout({ csi: { driver: 'a.example', nodePublishSecretRef: { name: 'token' } } }),
  PinAfterCreation: () => pinAdviceAbout({ configMap: { name: 'agent', optional: true } }),
  PinOutOfReach: () =>
    pinAdviceAbout(
      {},
      Array.from({ length: 40 }, () => ({ configMap: { name: 'agent' } })),
    ),
}

function pinAdviceAbout(volume: object, more: readonly object[] = []): ReturnType<typeof adviseConfig> {
  const template = { spec: { containers: [], volumes: [volume, ...more].map((one, at) => ({ name: `v${at}`, ...one })) } }
  return advisePinnedConfig(daemonSet({ template }), { written: [], immutable: [] }).advice
}

function readingConfig(annotations: Readonly<Record<string, string>>): DaemonSet {
  const spec = { containers: [{ name: 'agent', envFrom: [{ configMapRef: { name: 'agent' } }] }] }
  const read = daemonSet({})
  return { ...read, spec: { ...read.spec, template: { metadata: { annotations }, spec } } }
}

describe('every rule has a breach that is reported with its code and path', () => {
  it.each(Object.entries(breaches))('%s', (rule, breach) => {
    const { path } = problemRules[rule as ProblemRule]
    expect(breach().map((problem) => ({ rule: problem.rule, path: generic(problem.path, path) }))).toEqual([{ rule, path }])
  })

  it.each(Object.entries(surprises))('%s', (rule, surprise) => {
    const { path } = adviceRules[rule as AdviceRule]
    expect(surprise().map((advice) => ({ rule: advice.rule, path: generic(advice.path, path) }))).toEqual([{ rule, path }])
  })
})

function numbered(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`label-${n}`, 'a']))
}

/** As the table of rules writes paths. */
function generic(path: string, wanted: string): string {
  const numbered = path.replace(/\[\d+\]/g, '[i]')
  if (wanted.endsWith('…')) return numbered.startsWith(wanted.slice(0, -1)) ? wanted : path
  if (wanted === 'status') return path.startsWith('status.') ? wanted : path
  return numbered
}

function inRollout(value: unknown): readonly Problem[] {
  return checkRollout(value, { desired: null, workloadExists: null }).problems
}

function inDocument(value: unknown): readonly Problem[] {
  return checkDocuments([value])[0]!.problems
}

function inCanary(canary: NonNullable<Rollout['spec']['strategy']['canary']>): readonly Problem[] {
  return inRollout(rolloutWith({ spec: { strategy: { canary: { steps, ...canary } } } }))
}

function inStatus(canary: Partial<CanaryStatus>): readonly Problem[] {
  return validateStatusChange(running, rolloutWith({ status: { ...status, canaryStatus: { ...canaryStatus, ...canary } } }))
}

function inPolicy(spec: unknown): readonly Problem[] {
  return checkPolicy(policyWith(spec as ReleasePolicySpec)).problems
}

function inBatchRelease(value: unknown): readonly Problem[] {
  return checkBatchRelease(value as BatchRelease).problems
}

function keyed(key: string): readonly Problem[] {
  return validateKeys({ annotations: { [key]: '' } })
}

function daemonSet(spec: Partial<DaemonSet['spec']>): DaemonSet {
  return { metadata: { name: 'node-agent', uid: 'd1', resourceVersion: '1' }, spec: { template: {}, ...spec } }
}
