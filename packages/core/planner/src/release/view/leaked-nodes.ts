import { type Leaked, LISTED_NODES_MAX } from '@tranche/api-schema'
import { keptPerBlock } from '@tranche/fleet'
import type { ReleaseView } from './release-view.ts'

/** Desired nodes that came up on `revision` without a Tranche delete, by the marks on their pods; null without any. */
export function leakedNodes({ release, fleet }: ReleaseView, revision: string): Leaked | null {
  const id = release.spec.releasePlan.rolloutID ?? ''
  const nodes = leakedPerBlock(fleet, { revision, id }).flat()
  return nodes.length === 0 ? null : { count: nodes.length, nodes: nodes.slice(0, LISTED_NODES_MAX) }
}

interface LeakQuestion {
  readonly revision: string
  readonly id: string
}

const leakedPerBlock = keptPerBlock<LeakQuestion, readonly string[]>({
  count: (block, { revision, id }) =>
    block
      .filter(({ desired, pods }) => desired && pods.some((pod) => pod.hash === revision && pod.leakedIn === id && !pod.terminating))
      .map(({ name }) => name),
  holds: (known, asked) => known.revision === asked.revision && known.id === asked.id,
})
