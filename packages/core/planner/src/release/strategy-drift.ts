import type { StrategyDriftStatus } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import { keptPerBlock } from '@tranche/fleet'
import type { PatchOperation } from '@tranche/flight'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'
import { annotationPath, strategyOf } from './daemon-set-patch.ts'
import { isFinalized } from './is-finalized.ts'
import { isInCharge, type ReleaseView } from './release-view.ts'

/**
 * How often somebody may set the strategy back in one release before we give in (G11). Each round costs pods, which the
 * native controller takes beside every batch until the strategy is `OnDelete` again.
 */
const FIGHTS_UNTIL_WE_GIVE_IN = 2

/**
 * What to do about a strategy that is no longer `OnDelete` while this release is in charge.
 *
 * - `none`: nothing, it is `OnDelete` or not ours to hold.
 * - `report`: this round is not in the status yet. It is written before the strategy is touched, so that a crash between
 *   the two forgets no round.
 * - `surging`: wait, for a node has two pods, and under `OnDelete` the DaemonSet controller would delete the newer one.
 * - `reassert`: make it `OnDelete` again.
 * - `givenIn`: leave it, and hold the release until a retry, or until the DaemonSet says `OnDelete` of itself.
 */
export type StrategyDrift =
  | { readonly kind: 'none' | 'surging' | 'reassert' }
  | { readonly kind: 'report'; readonly contested: StrategyDriftStatus; readonly message: string }
  | { readonly kind: 'givenIn'; readonly contested: StrategyDriftStatus; readonly message: string }

/** Decides G11's contest. A round is told from the one before by the DaemonSet's generation, which our own answer raises. */
export function strategyDrift(view: ReleaseView): StrategyDrift {
  const { daemonSet, release } = view
  if (daemonSet === undefined || strategyOf(daemonSet) === 'OnDelete' || !isInCharge(view, daemonSet)) return { kind: 'none' }
  if (release.metadata.deletionTimestamp !== undefined || isFinalized(view)) return { kind: 'none' }
  const known = knownDrift(view)
  const generation = daemonSet.metadata.generation ?? 0
  // Once we have given in, whatever else is changed about the DaemonSet is no further round.
  const isSaid = known !== undefined && (known.generation === generation || known.rounds >= FIGHTS_UNTIL_WE_GIVE_IN)
  if (!isSaid) {
    const contested = nextRound(view, generation, known?.rounds ?? 0)
    return { kind: 'report', contested, message: messageOf(contested.rounds, strategyOf(daemonSet)) }
  }
  if (known.rounds >= FIGHTS_UNTIL_WE_GIVE_IN)
    return { kind: 'givenIn', contested: known, message: messageOf(known.rounds, strategyOf(daemonSet)) }
  return { kind: isMidSurge(view.fleet) ? 'surging' : 'reassert' }
}

/** What the status knows of this release's contest, unless a retry has been accepted since. */
function knownDrift({ release }: ReleaseView): StrategyDriftStatus | undefined {
  const { contested } = release.status ?? {}
  const { release: id = '', retry } = release.spec.tranche ?? {}
  return contested?.release === id && contested.retry === retry ? contested : undefined
}

function nextRound({ release }: ReleaseView, generation: number, rounds: number): StrategyDriftStatus {
  const { release: id = '', retry } = release.spec.tranche ?? {}
  return { release: id, rounds: rounds + 1, generation, ...(retry !== undefined && { retry }) }
}

function messageOf(rounds: number, type: string): string {
  const what = `updateStrategy.type was set back to ${type} in mid-release`
  const remedy = 'declare updateStrategy.type: OnDelete in the manifest'
  if (rounds < FIGHTS_UNTIL_WE_GIVE_IN) return `${what}; it is made OnDelete again, once: ${remedy}`
  return `${what} again, and is left so: Kubernetes updates the remaining nodes by itself, outside every batch; ${remedy}, or retry`
}

/**
 * Makes the strategy `OnDelete` again. Tests whose object it is, who is in charge and that it is still as somebody set it;
 * not its version, which the native controller's own status moves with every pod that it takes.
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

/** A desired node has two standing pods, as a rolling update with `maxSurge` makes them. */
export function isMidSurge(fleet: FleetView): boolean {
  return doubledPerBlock(fleet, null).some((doubled) => doubled)
}

const doubledPerBlock = keptPerBlock<null, boolean>({
  count: (block) => block.some(({ desired, pods }) => desired && pods.filter(({ terminating }) => !terminating).length > 1),
  holds: () => true,
})
