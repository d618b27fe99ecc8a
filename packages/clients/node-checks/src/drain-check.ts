import { drainDefaults, type DrainRules, type Permit } from '@tranche/api-schema'
import {
  type CordonedNode,
  cordonedNodes,
  createNodeDrainer,
  type DrainConditions,
  type DrainReading,
  type DrainRest,
  leftConditions,
  removeLeftCondition,
  uncordonNode,
  type WatchedCluster,
} from '@tranche/cluster'
import type { Clock } from '@tranche/clock'
import { type NodeCheck, type NodeWords, SHORT_WORK_MS } from '@tranche/fence'
import { nodeInView } from '@tranche/fleet'
import type { KubeClient } from '@tranche/kube-client'
import { isListedNamespace, keyOf, keyText } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import { actOnEach } from './act-on-each.ts'
import { blocked, type Check, type CheckTarget, limitedWords } from './check.ts'
import { CHANGED_AGAIN_MS } from './lease-access.ts'
import { failedNodes } from './failed-nodes.ts'
import { type DrainEvents, recordLateDrain } from './late-drain-event.ts'
import { isControlling, permitOn, permitsOn } from './permit-on-node.ts'
import { readsControl } from './reads-control.ts'

/** Dependencies of {@link createDrainCheck}. */
export interface DrainParts {
  readonly client: KubeClient
  readonly cluster: WatchedCluster
  readonly clock: Clock
  readonly log: Logger
  readonly events: DrainEvents
  /** Namespaces whose policies may drain nodes; `*` for all. */
  readonly trusted: readonly string[]
  /** Namespaces that this process watches; undefined for all. */
  readonly watched: readonly string[] | undefined
  /** Whether drained nodes get the condition `DrainInProgress`. */
  readonly setsConditions: boolean
}

/**
 * Drains a node before the pod of its permit is deleted (`drain` of the policy): it cordons the node and evicts the consumers. A drain evicts
 * pods of any namespace, so only policies of trusted namespaces may ask for it.
 */
export function createDrainCheck({ client, cluster, clock, log, events, trusted, watched, setsConditions }: DrainParts): Check {
  const drainer = createNodeDrainer(client, clock, setsConditions ? loggedConditions(clock, log) : undefined)

  async function drain(target: CheckTarget, rules: DrainRules, node: string, signal: AbortSignal): Promise<NodeCheck> {
    const { daemonSet } = target
    const drained = permitOn(target, node)
    if (drained === null) return { kind: 'pending', againInMs: CHANGED_AGAIN_MS }
    const podName = nodeInView(cluster.fleet.view(daemonSet), node)?.pods.find(({ uid }) => uid === drained.permit.podUid)?.name
    // The watches have shown the pod of the permit, so another executor has deleted it since: the target is older than the watches.
    if (podName === undefined) return { kind: 'pending', againInMs: CHANGED_AGAIN_MS }
    const reading = await drainer.drain({ node, agent: daemonSet, rules, drained: { ...drained, podName } }, signal)
    if (reading.kind === 'late' && reading.isNews) {
      log.warn({ daemonSet: keyText(keyOf(daemonSet)), node, why: reading.message }, 'updating node that is not drained')
      recordLateDrain(target, `node ${node} is updated although it is ${reading.message}`, events)
    }
    return toCheck(reading, rules)
  }

  return {
    name: 'drain',
    rules: ({ release }) => (release.spec.tranche?.drain === undefined ? undefined : { ahead: 0 }),
    preparations(target) {
      const cordoned = cordonedNodes(cluster, target.release.metadata)
      if (cordoned.length === 0) return []
      const hasEnded = endedOn(target, cluster, clock)
      return cordoned.map((one) => toPreparation(one, hasEnded(one)))
    },
    async check(target, { node, purpose }, signal) {
      const { namespace = '', uid } = target.release.metadata
      const rules = target.release.spec.tranche?.drain
      if (rules === undefined || purpose === 'ahead') return null
      if (!isListedNamespace(trusted, namespace)) return blocked('DrainNotAllowed', untrusted(namespace))
      if (purpose === 'deletion') return drain(target, rules, node, signal)
      const resting = drainer.whyResting(node, uid, rules)
      return resting === null ? { kind: 'ready', for: 'permit' } : blockedWhileResting(resting)
    },
    async undo({ daemonSet, release }, node, signal) {
      // A pass undoes it only once its permits are settled. A permit of a standing pod has come since.
      const standing = new Set(nodeInView(cluster.fleet.view(daemonSet), node)?.pods.map(({ uid }) => uid))
      const settled = permitsOn(release, node).filter(({ podUid }) => !standing.has(podUid))
      await uncordonNode(client, node, settled, signal)
    },
    async sweep(signal) {
      async function uncordon(one: CordonedNode): Promise<void> {
        const { permits, isRecordMissing, isActive } = stateOf(one, cluster)
        // A pass decides about the permits of a release that controls its DaemonSet. The watch of DaemonSets may be behind.
        if ((permits.length > 0 || isRecordMissing) && (isActive || (await readsControl(client, one.mark, signal)))) return
        await uncordonNode(client, one.node, permits, signal)
      }
      const marked = cordonedNodes(cluster).filter((one) => isWatched(one, watched))
      const left = setsConditions ? leftConditions(cluster) : []
      const acts = [...marked.map((one) => () => uncordon(one)), ...left.map((node) => () => removeLeftCondition(client, node, signal))]
      await actOnEach(acts, (act) => act(), signal)
    },
  }
}

/** Minimum interval between two log lines about conditions, in milliseconds. */
const REPORT_EVERY_MS = 60_000

function loggedConditions(clock: Clock, log: Logger): DrainConditions {
  let reportedMs = Number.NEGATIVE_INFINITY
  return {
    onFailure(node, error) {
      const nowMs = clock.monotonicMs()
      if (nowMs - reportedMs < REPORT_EVERY_MS) return
      reportedMs = nowMs
      log.warn({ err: error, node }, 'could not set the condition of a drain')
    },
  }
}

function toCheck(reading: DrainReading, rules: DrainRules): NodeCheck {
  switch (reading.kind) {
    case 'ready':
    case 'late':
      return { kind: 'ready', for: 'deletion' }
    case 'pending':
      return {
        kind: 'pending',
        againInMs: reading.againMs,
        ...(reading.spentMs >= SHORT_WORK_MS && { waits: drainWords(reading, rules) }),
      }
    case 'blocked':
      return blockedWhileResting(reading)
    default:
      return reading satisfies never
  }
}

/** Asked again when the rest ends, which the words promise: a delay that doubles would end later. */
function blockedWhileResting({ reason, message, restMs }: DrainRest): NodeCheck {
  return { ...blocked(reason, message), againInMs: Math.max(CHANGED_AGAIN_MS, restMs) }
}

function drainWords(
  { message, sinceMs }: DrainReading & { readonly kind: 'pending' },
  { timeout = drainDefaults.timeout, onTimeout = drainDefaults.onTimeout }: DrainRules,
): NodeWords {
  const afterwards = onTimeout === 'Continue' ? 'it is updated all the same' : `it keeps its pod, and is drained again ${timeout} later`
  return limitedWords({ reason: 'Draining', text: message, sinceMs, timeout, afterwards })
}

function toPreparation({ node }: CordonedNode, isStale: boolean): ReturnType<Check['preparations']>[number] {
  return { node, check: 'drain', state: 'begun', isAhead: false, isStale, changesAtMs: null }
}

/**
 * The drain of a marked node has ended without an available pod: its pod is deleted, and the release is over or counts the node as failed.
 * Such a node may stay so until a person has fixed it.
 */
function endedOn(target: CheckTarget, cluster: WatchedCluster, clock: Clock): (one: CordonedNode) => boolean {
  const isOver = target.release.status?.phase === 'Completed'
  const fleet = cluster.fleet.view(target.daemonSet)
  let failed: ReadonlySet<string> | undefined
  return ({ node, mark }) => {
    if (nodeInView(fleet, node)?.pods.some(({ uid }) => uid === mark.podUid) === true) return false
    if (isOver) return true
    failed ??= failedNodes(target, cluster, clock)
    return failed.has(node)
  }
}

function untrusted(namespace: string): string {
  return `policies of namespace ${namespace} may not drain nodes: rbac.drain.namespaces of the chart does not list it`
}

/** Records of other namespaces cannot be read. */
function isWatched({ mark }: CordonedNode, watched: readonly string[] | undefined): boolean {
  return watched === undefined || watched.includes(mark.namespace)
}

/** State of the release of a marked node. */
interface MarkedState {
  readonly permits: readonly Permit[]
  /** Definitions hide its permit record, or it was lost. The node was marked for a permit in it. */
  readonly isRecordMissing: boolean
  /** Whether it still controls its DaemonSet. */
  readonly isActive: boolean
}

function stateOf({ node, mark }: CordonedNode, cluster: WatchedCluster): MarkedState {
  const release = cluster.overlay.batchReleases.get(mark)
  if (release?.metadata.uid !== mark.uid) return { permits: [], isRecordMissing: false, isActive: false }
  const isRecordMissing = release.status?.flight === undefined
  return { permits: permitsOn(release, node), isRecordMissing, isActive: isControlling(mark, cluster) }
}
