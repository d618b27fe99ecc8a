import { lookOf, PlaceLink, ProgressBar, StateBadge, useNodes, useSummary } from '@tranche/dashboard'
import type { ObjectKey } from '@tranche/kube-types'
import type { ReactNode } from 'react'
import { HostFrame } from '../frame/host-frame.tsx'
import type { HeadlampDetails } from './headlamp-lib.ts'
import { baseOf } from './plugin-path.ts'
import { releasedRollout } from './released-rollout.ts'
import { useClusterServices, useHeadlamp } from './headlamp-page.tsx'

/** Section in the page of a Rollout, or of a DaemonSet that has one: the state of its release, and the way to its page. */
export function ReleaseSection({ resource }: HeadlampDetails): ReactNode {
  const key = releasedRollout(resource)
  if (resource === null || key === null) return null
  const { cluster } = resource
  return <Section key={`${cluster} ${key.namespace} ${key.name}`} cluster={cluster} rollout={key} />
}

function Section({ cluster, rollout }: { readonly cluster: string; readonly rollout: ObjectKey }): ReactNode {
  const { services } = useClusterServices(cluster)
  const { scheme, urlOf, go } = useHeadlamp(baseOf(`/c/${cluster}`))
  return (
    <HostFrame services={services} host="Headlamp" scheme={scheme} missing={NOTHING} urlOf={urlOf} go={go}>
      <Release rollout={rollout} />
    </HostFrame>
  )
}

const NOTHING = {}

function Release({ rollout }: { readonly rollout: ObjectKey }): ReactNode {
  useNodes(rollout)
  const summary = useSummary(rollout)
  return (
    <section aria-label="Release">
      <h2>
        Release <bdi>{rollout.name}</bdi> {summary === undefined ? null : <StateBadge look={lookOf(summary)} />}
      </h2>
      {summary === undefined ? (
        <p role="status">Reading {rollout.name}…</p>
      ) : (
        <>
          <ProgressBar nodes={summary.nodes} />
          <p className="prose">{summary.message}</p>
        </>
      )}
      <p>
        <PlaceLink to={{ view: 'rollout', key: rollout }}>Steps, nodes and actions</PlaceLink>
      </p>
    </section>
  )
}
