import type { FlightRecord } from '@tranche/api-schema'
import { nodeInView } from '@tranche/fleet'
import { compareResourceVersions } from '@tranche/kube-types'
import type { ReleaseView } from '../view/release-view.ts'

/**
 * F2: whether our view of pods is older than what executors have recorded, so that nodes may seem updated that are not. Either it has not
 * reached the watermark, or it shows a pod of the canary revision as standing although the record has a permit for it. Such a permit is from a
 * release of another revision, and its pod is gone: F8 removes permits of standing pods.
 */
export function isBehindRecord(
  { podsSeen, fleet }: Pick<ReleaseView, 'podsSeen' | 'fleet'>,
  record: FlightRecord,
  canary: string,
): boolean {
  if (compareResourceVersions(podsSeen, record.watermark) < 0) return true
  return record.permits.some(({ node, podUid }) =>
    nodeInView(fleet, node)?.pods.some(({ uid, hash, terminating }) => uid === podUid && hash === canary && !terminating),
  )
}
