import type { FlightRecord, Permit, ReleaseNodeRules } from '@tranche/api-schema'
import { BY_STAMPS, FleetIndex, type FleetPod, type FleetView, toFleetNode, toFleetPod } from '@tranche/fleet'
import {
  type PublishedTarget,
  batchScope,
  type Confirmation,
  type PassPlan,
  type PassView,
  type PermitChange,
  type NodeReading,
  type Preparation,
  preparationId,
} from '@tranche/fence'
import { aNode, aPod, aRecord, FLEET_OWNER } from '@tranche/testing'

import { scopeTextOf } from '../../src/nodes/batch-scope.ts'

/** Now, on the monotonic clock of every view here. */
export const NOW_MS = 100_000

/** Input of a case. Defaults: every party agrees, one node at a time, no partition, fresh views. */
export interface PassCase {
  /** See {@link fleetOf}. */
  readonly nodes: string
  /** See {@link permitsOf}. */
  readonly permits?: string
  /** Nodes whose permit was sent without a visible outcome. */
  readonly sent?: string
  /** Nodes whose gone pod's permit has settled, or left, by a live read (F6). */
  readonly confirmed?: string
  /** Nodes whose new pod was read at its present version without confirmation, to be read again in one second. */
  readonly open?: string
  /** Nodes whose new pod was read at an older version without confirmation. */
  readonly openBefore?: string
  /** Nodes that were read without confirmation, to be read again in one second. */
  readonly openNodes?: string
  readonly limit?: number
  /** Label `zone` of nodes, and `rack` behind a slash, as `a=x b=y/1`. */
  readonly zones?: string
  /** Node rules of the release; the record has their scope. */
  readonly rules?: ReleaseNodeRules
  /** Revisions that were stable once, or ran before the first release. */
  readonly former?: readonly string[]
  /** Creation time of the BatchRelease. Pods are of the beginning of 2026. */
  readonly begunAt?: string
  /** Batch from 0 for which the record is open; null, the default, for the last. */
  readonly batch?: number | null
  readonly partition?: number
  readonly minReadySeconds?: number
  readonly record?: Partial<FlightRecord>
  readonly published?: Partial<PublishedTarget>
  readonly podsSeen?: string
  /**
   * Nodes whose room was read, as `a=fits b=short c=short! d=short?`: b was read a second ago. c was read a minute ago, and is due
   * again. d was read twelve seconds ago, is not due yet, and was recorded. `k=permit~` was read forty seconds ago. `e=pending` and `f=failed` are answers to the purposes
   * deletion and ahead, `g=permit` is ready for a permit only. `h=fits'` was read for an earlier permit of the node. `i=draining` and
   * `j=pulling` are pending for long.
   */
  readonly room?: string
  /** Number of nodes that the policy lets be prepared ahead; undefined if it asks for no preparation. */
  readonly ahead?: number
  /**
   * Preparations of nodes, as `a=begun b=ready c=failed`. Suffixes: `!` for another revision, `?` only with a permit. `d=begun~` changes by
   * the clock in five seconds. `e=begun+` is due to be renewed, `f=begun-` will be in five seconds. `/lock` behind that: of a check that is
   * undone last, and only for a node with a permit. `g=begun^` takes long from two seconds on.
   */
  readonly prepared?: string
  /** Nodes on which this process undoes, by the check `pull`. */
  readonly undone?: string
  /** Nodes on which this process renews, by the check `lock`. */
  readonly renewed?: string
  readonly isBad?: boolean
}

/** Builds the view of a case. */
export function passView(given: PassCase): PassView {
  const permits = permitsOf(given.permits ?? '')
  const partition = given.partition ?? 0
  const scope = scopeTextOf(batchScope(given.rules, given.batch ?? null))
  const record = aRecord({ partition, limit: given.limit ?? 1, permits, scope, ...given.record })
  return {
    published: { ...publishedTargetOf(record), minReadySeconds: given.minReadySeconds ?? 0, ...given.published },
    releaseUid: 'release',
    record,
    nodes: given.rules,
    formerRevisions: given.former,
    begunAt: given.begunAt,
    fleet: fleetOf(given.nodes, given.zones),
    podsSeen: given.podsSeen ?? '1000',
    sent: new Set(words(given.sent ?? '').map((node) => `uid-pod-${node}@10`)),
    confirmations: new Map<string, Confirmation>([
      ...words(given.confirmed ?? '').map((node) => [`gone-${node}@4`, { kind: 'confirmed' }] as const),
      ...words(given.open ?? '').map((node) => openUntil(node, '10')),
      ...words(given.openBefore ?? '').map((node) => openUntil(node, '9')),
      ...words(given.openNodes ?? '').map((node) => openUntil(node, null)),
    ]),
    checks: new Map(words(given.room ?? '').map((word) => readingOf(word))),
    ...(given.ahead !== undefined && { preparation: { ahead: given.ahead } }),
    prepared: Map.groupBy(words(given.prepared ?? '').map(preparationOf), ({ node }) => node),
    undoneLately: new Set(words(given.undone ?? '').map((node) => preparationId({ node, check: 'pull' }))),
    renewedLately: new Set(words(given.renewed ?? '').map((node) => preparationId({ node, check: 'lock' }))),
    isBad: given.isBad ?? false,
    monotonicMs: NOW_MS,
  }
}

function preparationOf(word: string): Preparation {
  const [, node = '', state = '', flag, isLock] = /^(\w+)=(\w+)([!?~+^-]?)(\/lock)?$/.exec(word) ?? []
  const changesAtMs = flag === '~' ? NOW_MS + 5_000 : null
  const done = { node, state: state as Preparation['state'], isStale: flag === '!', changesAtMs }
  const renewAtMs = flag === '+' ? NOW_MS - 1 : flag === '-' ? NOW_MS + 5_000 : null
  if (isLock !== undefined) return { ...done, check: 'lock', isAhead: false, isLast: true, renewAtMs }
  const waits = flag === '^' ? { waits: { reason: 'Pulling' as const, message: 'pulls', fromMs: NOW_MS + 2_000 } } : {}
  return { ...done, check: 'pull', isAhead: flag !== '?', renewAtMs, ...waits }
}

function readingOf(word: string): readonly [string, NodeReading] {
  const [node = '', state = ''] = word.split('=')
  const check = checkOf(state)
  const purpose = state.startsWith('failed') || state.startsWith('pulling') ? 'ahead' : 'deletion'
  const permitId = purpose === 'deletion' ? `uid-pod-${node}@${state.endsWith("'") ? '9' : '10'}` : undefined
  const readAtMs = NOW_MS - (AGES_MS[state.at(-1) ?? ''] ?? 1_000)
  return [node, { check, purpose, permitId, readAtMs, againAtMs: readAtMs + 15_000, isNews: !state.endsWith('?') }]
}

/** By the suffix of a reading. */
const AGES_MS: Readonly<Record<string, number>> = { '!': 60_000, '~': 40_000, '?': 12_000 }

function checkOf(state: string): NodeReading['check'] {
  if (state.startsWith('fits')) return { kind: 'ready', for: 'deletion' }
  if (state.startsWith('permit')) return { kind: 'ready', for: 'permit' }
  if (state.startsWith('pending')) return { kind: 'pending', againInMs: 15_000 }
  if (state.startsWith('draining')) return { kind: 'pending', againInMs: 15_000, waits: { reason: 'Draining', message: 'drains' } }
  if (state.startsWith('pulling')) return { kind: 'pending', againInMs: 15_000, waits: { reason: 'Pulling', message: 'pulls' } }
  return { kind: 'blocked', reason: 'NoRoom', message: 'no room' }
}

/** Published target of a DaemonSet that agrees with the record. */
export function publishedTargetOf(record: FlightRecord): PublishedTarget {
  return {
    uid: record.workloadUid,
    generation: record.generation,
    observedGeneration: record.generation,
    controlledBy: 'release',
    canaryRevision: record.revision,
    stableRevision: 'old',
    partition: record.partition,
    paused: false,
    strategy: 'OnDelete',
    inProgress: true,
    minReadySeconds: 0,
  }
}

/**
 * Notation of nodes and pods. In `a:old b?:new! c-:none d:old+new`, node a has an available pod of revision old. Node b,
 * whose kubelet does not answer, has a pod that is not Ready. Node c is not desired and has no pod. Node d has two pods.
 * Suffixes of a revision: `!` (not Ready), `*` (Ready since one second), `x` (terminating). `e¿:old` is a NotReady node whose
 *  kubelet answers, `f&:old` a Ready node in maintenance.
 */
export function fleetOf(text: string, zones = ''): FleetView {
  const index = new FleetIndex()
  const zoneOf = new Map(words(zones).map((word) => word.split('=') as [string, string]))
  for (const word of words(text)) {
    const [, name = '', flag, pods = ''] = /^(\w+)([?¿&-]?):(.*)$/.exec(word) ?? []
    const zone = zoneOf.get(name)
    const taints = flag === '-' ? [{ key: 'dedicated', effect: 'NoSchedule' }] : []
    const health = { ready: flag !== '?' && flag !== '¿', answers: flag !== '?', ...(flag === '&' && { maintenance: 'DrainInProgress' }) }
    const [labelZone, rack] = zone?.split('/') ?? []
    const labels = { ...(labelZone !== undefined && { zone: labelZone }), ...(rack !== undefined && { rack }) }
    index.nodeChanged(undefined, toFleetNode(aNode(name, { taints, ...health, labels }), undefined, BY_STAMPS))
    for (const [at, pod] of pods.split('+').entries()) if (pod !== 'none') index.podChanged(undefined, podOf(name, pod, at))
  }
  return index.view(FLEET_OWNER)
}

/**
 * Notation of permits. In `a b.gone c.dead d.unseen`, `a` permits its present pod, and `b` a pod that is gone. `c` permits an older
 * version of its pod than the view shows, and `d` a newer one.
 */
export function permitsOf(text: string): readonly Permit[] {
  return words(text).map((word) => {
    const [node = '', kind] = word.split('.')
    if (kind === 'gone') return { node, podUid: `gone-${node}`, podResourceVersion: '4' }
    return { node, podUid: `uid-pod-${node}`, podResourceVersion: kind === 'dead' ? '9' : kind === 'unseen' ? '11' : '10' }
  })
}

/** The plan in words: `execute a b`, `confirm a`, `confirm node a`, `withdraw a`, `remove a, append b c`, `wait for budget`, `wait for availability until 159000`. */
export function planText(plan: PassPlan): string {
  switch (plan.kind) {
    case 'execute':
    case 'withdraw':
      return [plan.kind, ...plan.pods.map(({ permit }) => permit.node)].join(' ')
    case 'confirm':
      return [plan.kind, ...plan.pods.map(({ pod }) => pod.node), ...plan.nodes.map(({ node }) => `node ${node}`)].join(' ')
    case 'changePermits':
      return [changeText('remove', plan.change.remove), changeText('append', plan.change.append), blockedText(plan.change.blocked)]
        .filter((part) => part !== '')
        .join(', ')
    case 'checkNodes':
      return `check ${plan.nodes.map(({ node }) => node).join(' ')} for ${plan.purpose}`
    case 'undoPreparations':
      return `undo ${plan.nodes.map(({ node }) => node).join(' ')}`
    case 'renewPreparations':
      return `renew ${plan.nodes.map(({ node }) => node).join(' ')}`
    case 'wait':
      return `wait for ${plan.for}${plan.wakeAtMs === null ? '' : ` until ${plan.wakeAtMs}`}`
    default:
      return plan satisfies never
  }
}

function openUntil(node: string, podVersion: string | null): readonly [string, Confirmation] {
  return [`gone-${node}@4`, { kind: 'open', podVersion, againAtMs: NOW_MS + 1_000 }]
}

function podOf(node: string, text: string, at: number): FleetPod {
  const [, hash = '', flag] = /^(\w+?)([!*x]?)$/.exec(text) ?? []
  const name = at === 0 ? `pod-${node}` : `pod-${node}-${at + 1}`
  const pod = aPod({ node, name, hash, ready: flag !== '!', terminating: flag === 'x' })
  const seenMs = flag === '*' ? NOW_MS - 1_000 : 0
  return toFleetPod(pod, undefined, { nowMs: 0, monotonicMs: seenMs })!
}

function changeText(word: string, permits: readonly Permit[]): string {
  return permits.length === 0 ? '' : [word, ...permits.map(({ node }) => node)].join(' ')
}

function blockedText(nodes: PermitChange['blocked']): string {
  return nodes === undefined ? '' : `blocked ${nodes.map(({ node }) => node).join(' ')}`
}

function words(text: string): readonly string[] {
  return text === '' ? [] : text.split(' ')
}
