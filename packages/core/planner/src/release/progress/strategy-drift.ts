import type { BatchRelease, StrategyDriftStatus } from '@tranche/api-schema'
import { type FleetView, keptPerBlock } from '@tranche/fleet'
import type { PatchOperation } from '@tranche/fence'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'
import { annotationPath, strategyOf } from '../view/daemon-set-patch.ts'
import { isFinalized } from '../view/is-finalized.ts'
import { isInCharge, type ReleaseView } from '../view/release-view.ts'

/**
 * Number of times that another client may change the strategy in one release before Tranche stops the release (G11). Each round costs pods:
 * the
 * native controller updates them outside every batch until the strategy is `OnDelete` again.
 */
const FIGHTS_UNTIL_WE_GIVE_IN = 2

/**
 * What to do about a strategy other than `OnDelete` while this release is in charge.
 *
 * - `none`: nothing; it is `OnDelete`, or not under our control.
 * - `report`: this round is not in the status yet. It is written before the strategy is changed, so that a crash in between
 *   forgets no round.
 * - `surging`: wait; a node has two pods, and under `OnDelete` the DaemonSet controller would delete the newer one.
 * - `reassert`: set it to `OnDelete` again.
 * - `givenIn`: leave it, and hold the release until a retry, or until the DaemonSet is set to `OnDelete` by its owner.
 */
export type StrategyDrift =
  | { readonly kind: 'none' | 'surging' | 'reassert' }
  | { readonly kind: 'report'; readonly recorded: StrategyDriftStatus; readonly message: string }
  | { readonly kind: 'givenIn'; readonly recorded: StrategyDriftStatus; readonly message: string }

/** Decides G11's response. The DaemonSet's generation tells rounds apart; our own write raises it. */
export function strategyDrift(view: ReleaseView): StrategyDrift {
  const { daemonSet, release } = view
  if (daemonSet === undefined || strategyOf(daemonSet) === 'OnDelete' || !isInCharge(view, daemonSet)) return { kind: 'none' }
  if (release.metadata.deletionTimestamp !== undefined || isFinalized(view)) return { kind: 'none' }
  const known = knownDrift(view)
  const generation = daemonSet.metadata.generation ?? 0
  // After giving in, other changes of the DaemonSet are not further rounds.
  const isSaid = known !== undefined && (known.generation === generation || known.rounds >= FIGHTS_UNTIL_WE_GIVE_IN)
  if (!isSaid) {
    const recorded = nextRound(view, generation, known?.rounds ?? 0)
    return { kind: 'report', recorded, message: messageOf(recorded.rounds, strategyOf(daemonSet)) }
  }
  if (known.rounds >= FIGHTS_UNTIL_WE_GIVE_IN)
    return { kind: 'givenIn', recorded: known, message: messageOf(known.rounds, strategyOf(daemonSet)) }
  return { kind: isMidSurge(view.fleet) ? 'surging' : 'reassert' }
}

/** The recorded drift. The previous version named the field `contested`. */
export function strategyDriftOf({ status }: BatchRelease): StrategyDriftStatus | undefined {
  return status?.strategyDrift ?? status?.contested
}

/** The recorded drift of this release, unless a retry has been accepted since. */
function knownDrift({ release }: ReleaseView): StrategyDriftStatus | undefined {
  const recorded = strategyDriftOf(release)
  const { release: id = '', retry } = release.spec.tranche ?? {}
  return recorded?.release === id && recorded.retry === retry ? recorded : undefined
}

function nextRound({ release }: ReleaseView, generation: number, rounds: number): StrategyDriftStatus {
  const { release: id = '', retry } = release.spec.tranche ?? {}
  return { release: id, rounds: rounds + 1, generation, ...(retry !== undefined && { retry }) }
}

function messageOf(rounds: number, type: string): string {
  const what = `updateStrategy.type was changed to ${type} during the release`
  const remedy = 'declare updateStrategy.type: OnDelete in the manifest'
  if (rounds < FIGHTS_UNTIL_WE_GIVE_IN) return `${what}; Tranche sets it to OnDelete again, but only once: ${remedy}`
  return `${what} again, and Tranche leaves it so: Kubernetes updates the remaining nodes by itself, outside every batch; ${remedy}, or retry`
}

/**
 * Sets the strategy to `OnDelete` again. Tests the uid, who is in charge and the strategy that was read; not the version,
 * which the native controller's own status changes with every pod.
 */
export function reassertPatch(daemonSet: DaemonSet): readonly PatchOperation[] {
  const { annotations = {}, uid } = daemonSet.metadata
  const type = strategyOf(daemonSet)
  const isRemembered = daemonSetAnnotations.originalUpdateStrategy in annotations
  const memory: PatchOperation = { op: 'add', path: annotationPath(daemonSetAnnotations.originalUpdateStrategy), value: type }
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: annotationPath(daemonSetAnnotations.controlInfo), value: annotations[daemonSetAnnotations.controlInfo] },
    { op: 'test', path: '/spec/updateStrategy/type', value: type },
    ...(isRemembered ? [] : [memory]),
    { op: 'replace', path: '/spec/updateStrategy/type', value: 'OnDelete' },
  ]
}

/** Whether a desired node has two standing pods, as in a rolling update with `maxSurge`. */
export function isMidSurge(fleet: FleetView): boolean {
  return doubledPerBlock(fleet, null).some((doubled) => doubled)
}

const doubledPerBlock = keptPerBlock<null, boolean>({
  count: (block) => block.some(({ desired, pods }) => desired && pods.filter(({ terminating }) => !terminating).length > 1),
  holds: () => true,
})
