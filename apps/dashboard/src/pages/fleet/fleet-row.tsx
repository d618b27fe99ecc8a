import type { RolloutSummary } from '@tranche/api-schema'
import { memo, type ReactNode } from 'react'
import { lookOf } from '../../format/outcome-text.ts'
import { ImageChangeText } from '../../parts/image-change.tsx'
import { PlaceLink } from '../../parts/place-link.tsx'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { Age, Until } from '../../parts/time.tsx'

/** One Rollout of the fleet. Renews only when its own summary changes. */
export const FleetRow = memo(function FleetRow({ rollout }: { readonly rollout: RolloutSummary }): ReactNode {
  const { namespace, name, images, stableImages, nodes, step, outcome, need, message, remaining, waitingFor } = rollout
  const isOver = outcome === 'Done'
  const since = need?.since ?? waitingFor?.since ?? step?.since ?? rollout.createdAt
  return (
    <tr>
      <td data-label="State">
        <StateBadge look={lookOf(rollout)} />
      </td>
      <th scope="row" data-label="Rollout">
        <PlaceLink to={{ view: 'rollout', key: { namespace, name } }}>
          <bdi>{name}</bdi>
        </PlaceLink>
        <span className="namespace">
          <bdi>{namespace}</bdi>
        </span>
      </th>
      <td data-label="Version">
        <ImageChangeText from={isOver ? undefined : stableImages} to={images} />
      </td>
      <td data-label="Progress">
        <ProgressBar nodes={nodes} />
        <span className="count">
          {nodes.updatedAvailable}/{nodes.desired}
          {isOver || step === undefined ? '' : ` · step ${step.index} of ${step.count}`}
        </span>
      </td>
      <td data-label="Nodes">
        <Health rollout={rollout} />
      </td>
      <td data-label="Waits for" className="waits">
        {isOver ? <span className="quiet">–</span> : <bdi title={message}>{need?.message ?? message}</bdi>}
      </td>
      <td data-label="Since">
        <Age at={since} />
      </td>
      <td data-label="Ends">{remaining === undefined || isOver ? <span className="quiet">–</span> : <Until at={remaining.until} />}</td>
    </tr>
  )
})

/** Counts of unhealthy nodes, in few words. */
function Health({ rollout: { nodes, maxUnavailable } }: { readonly rollout: RolloutSummary }): ReactNode {
  const isOverLimit = maxUnavailable !== undefined && nodes.unavailable > maxUnavailable
  const parts = [
    nodes.failed > 0 ? (
      <span key="failed" className="tone-bad">
        {nodes.failed} failed
      </span>
    ) : null,
    nodes.unavailable > 0 ? (
      <span key="down" className={isOverLimit ? 'tone-wait' : undefined}>
        {nodes.unavailable} down{maxUnavailable === undefined ? '' : ` of ${maxUnavailable} allowed`}
      </span>
    ) : null,
  ].filter((part) => part !== null)
  return parts.length === 0 ? <span className="tone-good">all available</span> : <span className="stacked">{parts}</span>
}
