import type { ReactNode } from 'react'
import { PageMain } from '../../parts/page-main.tsx'

const example = `apiVersion: rollouts.kruise.io/v1beta1
kind: Rollout
metadata:
  name: node-agent
  namespace: monitoring
spec:
  workloadRef:
    apiVersion: apps/v1
    kind: DaemonSet
    name: node-agent
  strategy:
    canary:
      steps:
        - replicas: 5%
          pause: {}
        - replicas: 50%
          pause: { duration: 600 }
        - replicas: 100%`

/** The fleet without a Rollout: says how to begin, and names other possible reasons. */
export function EmptyFleet(): ReactNode {
  return (
    <PageMain className="empty">
      <h1>No rollouts yet</h1>
      <p>
        A Rollout tells Tranche to release a DaemonSet in batches. Apply one beside a DaemonSet of yours; nothing restarts until its next
        new version:
      </p>
      <pre>
        <code>{example}</code>
      </pre>
      <p>
        <code>kubectl apply -f rollout.yaml</code> brings it here within a second.
      </p>
      <p className="hint">
        You see only namespaces in which you may <code>list rollouts.rollouts.kruise.io</code>. If you expected some, ask for the role{' '}
        <code>tranche-viewer</code> there.
      </p>
    </PageMain>
  )
}
