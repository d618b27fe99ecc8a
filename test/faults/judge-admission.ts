import type { RecordedDaemonSet, RecordedWrite } from '@tranche/recording'
import type { Standing } from './admission-control.ts'
import type { Violation } from './judge.ts'

/**
 * Writes that admission should have stopped while it was installed, in one version or in two at once.
 *
 * - A template of another client is not stored on a bound DaemonSet under a strategy with which the native controller rolls it out (G3).
 * - No `RollingUpdate` replaces `OnDelete` in mid-release (G11).
 * - The values of our keys stay, partition, pause and binding among them (G3, G4, G9, G11).
 *
 * A user who may change a DaemonSet may also delete it. Once users have disabled or deleted the Rollout, these rules do not apply to what
 * they write, even while the release is detached.
 *
 * @param admitted when admission was installed
 */
export function findPassed(writes: readonly RecordedWrite[], admitted: readonly Standing[]): readonly Violation[] {
  const known = new Map<string, RecordedDaemonSet>()
  const detached = new Set<string>()
  return writes.flatMap((write) => {
    const { kind, uid = '', t, actor = '' } = write
    if (kind === 'Rollout') followRollout(detached, write)
    if (kind !== 'DaemonSet') return []
    const next = write.o as unknown as RecordedDaemonSet
    const before = known.get(uid)
    known.set(uid, next)
    if (before === undefined || write.type === 'DELETED' || !isBound(before) || isOurs(actor)) return []
    if (detached.has(`${write.namespace}/${before.annotations?.[ROLLOUT]}`)) return []
    const stood = admitted.some(({ fromMs, toMs }) => fromMs < t && (toMs === null || t < toMs))
    if (!stood) return []
    const changed = changesOfKeys(before, next).map((one) => ({ ...one, atMs: t, text: `${actor} has ${one.text} past admission` }))
    if (next.strategy?.type === 'OnDelete') return changed
    return [...changed, ...findNative(before, next, { t, actor })]
  })
}

/** A strategy with which the native controller rolls out by itself. */
function findNative(
  before: RecordedDaemonSet,
  next: RecordedDaemonSet,
  { t, actor }: { readonly t: number; readonly actor: string },
): readonly Violation[] {
  if (before.template !== next.template)
    return [{ guarantee: 'G3', atMs: t, text: `the template of ${actor} has passed admission, and is rolled out natively` }]
  if (before.strategy?.type !== 'OnDelete' || !isReleased(before) || !isReleased(next)) return []
  return [{ guarantee: 'G11', atMs: t, text: `the RollingUpdate of ${actor} has passed admission in mid-release` }]
}

/**
 * Changes of our keys, which must stay as they are, whatever a client writes. A new template marks the DaemonSet as in progress, and
 * keeps the original type.
 */
function changesOfKeys(before: RecordedDaemonSet, next: RecordedDaemonSet): readonly Pick<Violation, 'guarantee' | 'text'>[] {
  const { annotations: was = {} } = before
  const { annotations: is = {} } = next
  const kept = Object.entries(guarded).filter(([key]) => was[key] !== undefined && meaningOf(key, is[key]) !== meaningOf(key, was[key]))
  const begun =
    before.template === next.template || next.strategy?.type !== 'OnDelete'
      ? []
      : [IN_PROGRESSING, ORIGINAL].filter((key) => is[key] === undefined)
  const isUnlabelled = next.labels?.[TYPE_LABEL] !== before.labels?.[TYPE_LABEL]
  return [
    ...kept.map(([key, guarantee]) => ({ guarantee, text: is[key] === undefined ? `removed ${key}` : `changed ${key} to ${is[key]}` })),
    ...begun.filter((key) => was[key] === undefined).map((key) => ({ guarantee: 'G11', text: `begun a release without ${key}` })),
    ...(isUnlabelled ? [{ guarantee: 'G11', text: `changed the label ${TYPE_LABEL}` }] : []),
  ]
}

/** Of `in-progressing` only the Rollout that it names counts: each version of admission writes the other members as it knows them. */
function meaningOf(key: string, value: string | undefined): string | undefined {
  return key === IN_PROGRESSING && value !== undefined ? (JSON.parse(value) as { readonly rolloutName?: string }).rolloutName : value
}

const ROLLOUT = 'tranche.dev/rollout'
const TYPE_LABEL = 'rollouts.kruise.io/workload-type'
const IN_PROGRESSING = 'rollouts.kruise.io/in-progressing'
const ORIGINAL = 'rollouts.kruise.io/daemonset-original-update-strategy'

/** Our keys on a DaemonSet, and the guarantee that breaks when another client changes one. */
const guarded: Readonly<Record<string, string>> = {
  'rollouts.kruise.io/daemonset-partition': 'G3',
  'rollouts.kruise.io/daemonset-canary-revision': 'G3',
  'rollouts.kruise.io/daemonset-stable-revision': 'G11',
  'tranche.dev/paused': 'G9',
  'batchrelease.rollouts.kruise.io/control-info': 'G4',
  [IN_PROGRESSING]: 'G11',
  [ORIGINAL]: 'G11',
  [ROLLOUT]: 'G11',
  'tranche.dev/frozen': 'G11',
}

/** @param detached Rollouts that their owner has disabled or deleted */
function followRollout(detached: Set<string>, { namespace, type, o }: RecordedWrite): void {
  const { metadata, spec } = o as {
    readonly metadata: { readonly name?: string; readonly deletionTimestamp?: string }
    readonly spec?: { readonly disabled?: boolean }
  }
  const key = `${namespace}/${metadata.name}`
  if (type === 'DELETED' || spec?.disabled === true || metadata.deletionTimestamp !== undefined) detached.add(key)
  else detached.delete(key)
}

function isBound({ annotations, labels }: RecordedDaemonSet): boolean {
  return annotations?.[ROLLOUT] !== undefined && labels?.[TYPE_LABEL] === 'daemonset'
}

function isReleased({ annotations }: RecordedDaemonSet): boolean {
  return annotations?.[IN_PROGRESSING] !== undefined
}

function isOurs(actor: string): boolean {
  return /^(controller|executor)-/.test(actor)
}
