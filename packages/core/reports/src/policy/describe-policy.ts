import {
  type Analysis,
  type DrainConsumer,
  drainDefaults,
  type DrainRules,
  type FailureRules,
  type NodeRules,
  notReadyDefaults,
  type PolicyReport,
  prePullDefaults,
  type PrePullRules,
  type Receiver,
  type ReleasePolicy,
  type ReleasePolicySpec,
  type Rollout,
} from '@tranche/api-schema'
import { rolloutAnnotations, valueIn } from '@tranche/kube-types'
import { FINAL_SETTLE_SECONDS } from '@tranche/planner'
import { policyStateOf } from './policy-state.ts'
import { selectorWords } from './selector-words.ts'
import { type AskedParts, withoutUnusable } from './unusable-parts.ts'

/**
 * The policy of a Rollout in sentences, with the defaults of everything that it omits. Contains no header, no body and no part of a URL but
 * its host, because these may hold credentials. What the installation does not allow is not among the sentences that are in force.
 *
 * @param policy the ReleasePolicy that the Rollout names; undefined if it does not exist, or if the Rollout names none
 */
export function describePolicy(rollout: Rollout, policy: ReleasePolicy | undefined): PolicyReport {
  const name = rollout.metadata.annotations?.[rolloutAnnotations.releasePolicy]
  const state = policyStateOf(rollout)
  if (name !== undefined && policy === undefined) return { name, found: false, ...(state !== undefined && { state }), sections: [] }
  const spec = policy?.spec ?? {}
  const sections: PolicyReport['sections'] = [
    { section: 'nodes', sentences: nodeSentences(spec.nodes) },
    { section: 'maxUnavailable', sentences: [budgetSentence(spec.maxUnavailable)] },
    { section: 'failure', sentences: failureSentences(spec.failure, rollout) },
    ...(spec.prePull === undefined ? [] : [{ section: 'prePull' as const, sentences: prePullSentences(spec.prePull) }]),
    ...(spec.drain === undefined ? [] : [{ section: 'drain' as const, sentences: drainSentences(spec.drain) }]),
    { section: 'soak', sentences: soakSentences(spec.soak) },
    { section: 'analysis', sentences: orElse((spec.analysis ?? []).map(analysisSentence), 'No metric is measured.') },
    { section: 'downtime', sentences: downtimeSentences(spec.downtime) },
    ...configSections(spec.config),
    { section: 'notify', sentences: orElse((spec.notify ?? []).map(receiverSentence), 'No receiver is notified.') },
  ]
  return {
    ...(name !== undefined && { name }),
    found: policy !== undefined,
    ...(state !== undefined && { state }),
    sections: policy === undefined ? sections : withoutUnusable(sections, policy, askedParts(spec)),
  }
}

/** What a policy asks for, and the installation may not allow. */
function askedParts({ nodes, prePull, drain, downtime = {}, config }: ReleasePolicySpec): AskedParts {
  const pinned = { section: 'config', sentences: config === 'Pin' ? [PIN_SENTENCE] : [] } as const
  return {
    ...(nodes?.room === 'Check' && { RoomNotAllowed: { section: 'nodes', sentences: [ROOM_SENTENCE] } }),
    ...(prePull !== undefined && { PrePullNotAllowed: { section: 'prePull', sentences: prePullSentences(prePull) } }),
    ...(drain !== undefined && { DrainNotAllowed: { section: 'drain', sentences: drainSentences(drain) } }),
    GroupNotAllowed: { section: 'downtime', sentences: groupSentences(downtime) },
    NodeLockNotAllowed: { section: 'downtime', sentences: nodeLockSentences(downtime) },
    DowntimeNotAllowed: { section: 'downtime', sentences: perDaySentences(downtime) },
    PinNotAllowed: pinned,
    PodPolicyMissing: pinned,
  }
}

/** Without it, as before: config is reported by a condition, not by the policy. */
function configSections(config: ReleasePolicySpec['config']): PolicyReport['sections'] {
  if (config !== 'Pin') return []
  return [
    {
      section: 'config',
      sentences: [PIN_SENTENCE],
    },
  ]
}

const ROOM_SENTENCE = 'A node without room for the new pod keeps the old one and waits.'

const PIN_SENTENCE =
  'Pods read immutable copies of their ConfigMaps, and of their Secrets where the installation allows it. A change of one is a release.'

function orElse(sentences: readonly string[], otherwise: string): readonly string[] {
  return sentences.length === 0 ? [otherwise] : sentences
}

function nodeSentences({ order = [], exclude = [], spread = [], notReady, room }: NodeRules = {}): readonly string[] {
  const { action = notReadyDefaults.action, exempt = notReadyDefaults.exempt, after = notReadyDefaults.after } = notReady ?? {}
  return [
    'Nodes on a superseded revision come first, unhealthy pods before healthy ones, and nodes that are NotReady or in maintenance last.',
    ...order.map(({ selector, by }, at) => `${at === 0 ? 'Among these' : 'Then'}, ${orderText(selector, by)}.`),
    ...(exclude.length === 0
      ? ['No node is excluded.']
      : exclude.map((selector) => `Nodes with ${selectorWords(selector)} are never updated.`)),
    ...spread.map(
      ({ topologyKey, maxUnavailable }) =>
        `At most ${nodesText(maxUnavailable)} with the same ${topologyKey} may be unavailable at a time.`,
    ),
    valueIn(notReadySentences, action) ?? '',
    exempt === 0 || exempt === '0%'
      ? 'Every dead node counts as unavailable (nodes.notReady.exempt is 0, the strict rule).'
      : `Dead nodes do not count as unavailable while they are at most ${nodesText(exempt)} (nodes.notReady.exempt). If there are more, all of them count.`,
    `A node is dead if, before its update, it does not answer, is in maintenance, or has been NotReady for ${after}.`,
    room === 'Check' ? ROOM_SENTENCE : 'Whether a node has room for the new pod is not checked before the old one is deleted.',
  ]
}

function orderText(selector: NonNullable<NodeRules['exclude']>[number] | undefined, by: string | undefined): string {
  const first = selector === undefined ? undefined : `nodes with ${selectorWords(selector)} come first`
  const sorted = by === undefined ? undefined : valueIn(orderWords, by)
  if (first !== undefined && sorted !== undefined) return `${first}, ${sorted}`
  return first ?? `nodes come in order: ${sorted ?? 'any'}`
}

const orderWords: Readonly<Record<string, string>> = {
  Oldest: 'the oldest pod first',
  Newest: 'the newest pod first',
  Name: 'by name of the node',
}

const notReadySentences: Readonly<Record<string, string>> = {
  Skip: 'A node that is NotReady or in maintenance when it is due is skipped, and updated last.',
  Wait: 'If a node is NotReady or in maintenance when it is due, the batch waits for it.',
  Fail: 'A node that is NotReady or in maintenance when it is due counts as failed.',
}

function budgetSentence(limit: ReleasePolicySpec['maxUnavailable']): string {
  return limit === undefined
    ? 'The number of nodes that may be unavailable at a time is updateStrategy.rollingUpdate.maxUnavailable of the DaemonSet, or 1 without it.'
    : `At most ${nodesText(limit)} may be unavailable at a time, whatever the DaemonSet states.`
}

function failureSentences(rules: FailureRules = {}, { spec }: Rollout): readonly string[] {
  const { maxFailedNodesPerBatch: perBatch, progressDeadlineSeconds = 600, schedulingDeadlineSeconds = 60, maxRestarts = 2 } = rules
  const { ignoreReasons = [], autoResume, maxFailedNodes } = rules
  const tolerated = maxFailedNodes ?? spec.strategy.canary?.failureThreshold ?? 0
  const source = maxFailedNodes === undefined && tolerated !== 0 ? ', which is failureThreshold of the Rollout' : ''
  return [
    tolerated === 0 || tolerated === '0%'
      ? 'The new version counts as bad at the first failed node.'
      : `The new version counts as bad when more than ${nodesText(tolerated)} fail${source}.`,
    ...(perBatch === undefined ? [] : [`It also counts as bad when more than ${nodesText(perBatch, 'its nodes')} fail in one batch.`]),
    valueIn(actionSentences, rules.action ?? 'Pause') ?? '',
    `A node fails when it has no available pod for ${progressDeadlineSeconds} s after its update.`,
    `It also fails when its new pod cannot be scheduled or created for ${schedulingDeadlineSeconds} s.`,
    `It also fails after more than ${maxRestarts === 1 ? '1 restart' : `${maxRestarts} restarts`} of its containers.`,
    ignoreReasons.includes('NodeNotReady')
      ? 'A node that turns NotReady after its update fails only after the deadline.'
      : 'It also fails when the node turns NotReady after its update.',
    ...(ignoreReasons.length === 0 ? [] : [`${listText(ignoreReasons)} of a container fail a node only after the deadline.`]),
    valueIn(reapplySentences, rules.onReapply ?? 'Hold') ?? '',
    ...(autoResume === undefined ? [] : [`A stopped release resumes when no more nodes than tolerated have failed for ${autoResume}.`]),
  ]
}

const actionSentences: Readonly<Record<string, string>> = {
  Pause: 'Then the release stops until a person decides.',
  Rollback: 'Then the release is rolled back to the stable version.',
  Continue: 'Then the release continues past the failed nodes.',
}

const reapplySentences: Readonly<Record<string, string>> = {
  Hold: 'A failed version that is applied again is not released.',
  Deny: 'A failed version that is applied again is rejected at admission, or not released without admission.',
  Revert: 'When a failed version is applied again, the stable version is restored.',
}

function drainSentences({ cordon, consumers = [], timeout, onTimeout }: DrainRules): readonly string[] {
  const { cordon: isDefault, timeout: longest, onTimeout: otherwise } = drainDefaults
  return [
    ...((cordon ?? isDefault) ? ['A node is cordoned before its pod is deleted, and uncordoned once its new pod is available.'] : []),
    ...consumers.map((consumer) => `Pods that ${consumerText(consumer)} are evicted from a node before its pod is deleted.`),
    ...(consumers.length === 0 ? [] : [valueIn(timeoutSentences, onTimeout ?? otherwise)?.(timeout ?? longest) ?? '']),
  ]
}

function consumerText({ selector, csiDriver, extendedResource }: DrainConsumer): string {
  if (selector !== undefined) return `have ${selectorWords(selector)}`
  return csiDriver === undefined ? `request ${extendedResource}` : `use a volume of the CSI driver ${csiDriver}`
}

const timeoutSentences: Readonly<Record<string, (timeout: string) => string>> = {
  Hold: (timeout) => `If they are still there after ${timeout}, the node keeps its pod, and is tried again later.`,
  Continue: (timeout) => `If they are still there after ${timeout}, the pod is deleted all the same.`,
}

function soakSentences({ step, final = `${FINAL_SETTLE_SECONDS}s` }: NonNullable<ReleasePolicySpec['soak']> = {}): readonly string[] {
  return [
    step === undefined || Number.parseFloat(step) === 0
      ? 'A step is done as soon as its batch is ready.'
      : `A step is done when its batch has been ready for ${step}.`,
    `The release completes when the last batch has been ready for ${final}.`,
  ]
}

type Downtime = NonNullable<ReleasePolicySpec['downtime']>

function downtimeSentences(downtime: Downtime = {}): readonly string[] {
  return [
    ...orElse(groupSentences(downtime), 'Releases of other DaemonSets may run at the same time.'),
    ...nodeLockSentences(downtime),
    ...perDaySentences(downtime),
  ]
}

function groupSentences({ group }: Downtime): readonly string[] {
  return group === undefined ? [] : [`Of the DaemonSets whose policies name the group ${group}, at most one is released at a time.`]
}

function nodeLockSentences({ nodeLock }: Downtime): readonly string[] {
  return nodeLock === 'Take'
    ? ['The Lease of a node is held while its pod is replaced, and a node whose Lease has another holder waits.']
    : []
}

function perDaySentences({ perDay }: Downtime): readonly string[] {
  return perDay === undefined
    ? []
    : [`A node whose agent was away for ${perDay} in the last 24 hours because of Tranche waits, except in a rollback.`]
}

function analysisSentence(analysis: Analysis): string {
  const { name, background = false, steps, prometheus, http, interval = '30s', count, failureLimit = 0, dryRun = false } = analysis
  const when = background ? 'during the whole release' : steps === undefined ? 'after each step' : `after ${stepsText(steps)}`
  const from = prometheus === undefined ? `${http?.method ?? 'GET'} ${hostOf(http?.url)}` : `Prometheus at ${hostOf(prometheus.address)}`
  const times = background && count === undefined ? `every ${interval}` : (count ?? 1) === 1 ? 'once' : `${count} times, every ${interval}`
  const conditions = [
    ...(analysis.successCondition === undefined ? [] : [`it succeeds if ${analysis.successCondition}`]),
    ...(analysis.failureCondition === undefined ? [] : [`it fails if ${analysis.failureCondition}`]),
  ]
  const limit =
    failureLimit === 0
      ? 'no failure is tolerated'
      : failureLimit === 1
        ? '1 failure is tolerated'
        : `${failureLimit} failures are tolerated`
  const effect = dryRun ? 'it never affects the release' : limit
  return `${name} measures ${when}, ${times}, with ${from}: ${[...conditions, effect].join('; ')}.`
}

function prePullSentences({ parallel, timeout = prePullDefaults.timeout, onFailure }: PrePullRules): readonly string[] {
  const most = parallel === undefined ? 'as many nodes as may be unavailable' : nodesText(parallel)
  return [
    `The new images are pulled to a node before its pod is deleted, on ${most} at a time.`,
    onFailure === 'Continue'
      ? `A node that cannot pull them within ${timeout} is updated anyway.`
      : `A node that cannot pull them within ${timeout} keeps its pod, and is tried again.`,
  ]
}

function receiverSentence({ name, slack, webhook, events, remindAfter }: Receiver): string {
  const to = slack === undefined ? `a webhook on ${hostOf(webhook?.url)}` : 'Slack'
  const about = events === undefined || events.length === 0 ? 'every event' : listText(events)
  const again = remindAfter === undefined ? '' : `, and a reminder every ${remindAfter} while the release waits for a person`
  return `${name} gets ${about} through ${to}${again}.`
}

/** @returns the host of a URL; arguments in the path are not substituted */
function hostOf(url: string | undefined): string {
  return URL.parse(url ?? '')?.host ?? 'an invalid URL'
}

function nodesText(size: number | string, of = 'the desired nodes'): string {
  if (typeof size === 'string' && size.endsWith('%')) return `${size} of ${of}`
  return String(size) === '1' ? '1 node' : `${size} nodes`
}

function stepsText(steps: readonly number[]): string {
  return steps.length === 1 ? `step ${steps[0]}` : `steps ${listText(steps.map(String))}`
}

function listText(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}
