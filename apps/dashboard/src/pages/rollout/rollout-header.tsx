import type { ApiKey } from '@tranche/api-client'
import type { RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { useMissing } from '../../ports/dashboard-ports.ts'
import { lookOf } from '../../format/outcome-text.ts'
import { ImageChangeText } from '../../parts/image-change.tsx'
import { PlaceLink } from '../../parts/place-link.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { Age } from '../../parts/time.tsx'

/** Name, state, version and age of a Rollout. */
export function RolloutHeader({ report }: { readonly report: RolloutReport }): ReactNode {
  const { namespace, name, daemonSet, phase, reason, outcome, images, stableImages, releaseStartedAt, createdAt, policy } = report
  const key = { namespace, name }
  return (
    <header className="rollout-header">
      <nav aria-label="Breadcrumb" className="crumbs">
        <PlaceLink to={{ view: 'fleet' }}>Rollouts</PlaceLink> /{' '}
        <PlaceLink to={{ view: 'fleet', query: { namespace } }}>
          <bdi>{namespace}</bdi>
        </PlaceLink>
      </nav>
      <h1>
        <bdi>{name}</bdi> <StateBadge look={lookOf(report)} />
      </h1>
      <dl className="facts">
        <div>
          <dt>Version</dt>
          <dd>
            <ImageChangeText from={outcome === 'Done' ? undefined : stableImages} to={images} />
          </dd>
        </div>
        <div>
          <dt>DaemonSet</dt>
          <dd>
            <bdi>{daemonSet}</bdi>
          </dd>
        </div>
        <div>
          <dt>Phase</dt>
          <dd>
            {phase}
            {reason === '' ? '' : ` (${reason})`}
          </dd>
        </div>
        <div>
          <dt>{releaseStartedAt === undefined ? 'Created' : outcome === 'Done' ? 'Last release' : 'Release runs'}</dt>
          <dd>
            <Age at={releaseStartedAt ?? createdAt} />
          </dd>
        </div>
        <Links rollout={key} policy={policy} />
      </dl>
    </header>
  )
}

/** Properties of {@link Links}. */
interface LinksProps {
  readonly rollout: ApiKey
  /** Name of the policy; undefined: the defaults apply. */
  readonly policy: string | undefined
}

/** Views of the same Rollout. */
function Links({ rollout, policy }: LinksProps): ReactNode {
  const missing = useMissing()
  return (
    <>
      <div>
        <dt>Policy</dt>
        <dd>
          <PlaceLink to={{ view: 'policy', key: rollout }}>
            <bdi>{policy ?? 'defaults'}</bdi>
          </PlaceLink>
        </dd>
      </div>
      {missing.plan === undefined ? (
        <div>
          <dt>Forecast</dt>
          <dd>
            <PlaceLink to={{ view: 'plan', key: rollout }}>What if…</PlaceLink>
          </dd>
        </div>
      ) : null}
      {missing.record === undefined ? (
        <div>
          <dt>History</dt>
          <dd>
            <PlaceLink to={{ view: 'record', query: { rollout: `${rollout.namespace}/${rollout.name}` } }}>Who did what</PlaceLink>
          </dd>
        </div>
      ) : null}
    </>
  )
}
