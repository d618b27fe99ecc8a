import { valueIn } from '@tranche/kube-types'
import { type LiveState, type MissingParts, ProblemNote, useFleet } from '@tranche/dashboard'
import { type ReactNode, useSyncExternalStore } from 'react'
import { lackText } from '../reading/lack.ts'
import type { HostServices } from './host-services.ts'

/** Properties of {@link HostNote}. */
interface HostNoteProps {
  readonly services: HostServices
  readonly missing: MissingParts
  /** Name of the host. */
  readonly host: string
}

/** What a reader must know about the page: whether it is current, what the user may not read, and what this host cannot show. */
export function HostNote({ services: { status, poll }, missing, host }: HostNoteProps): ReactNode {
  const { lacks, error } = useSyncExternalStore(status.subscribe, status.snapshot)
  const { isComplete, live } = useFleet()
  const sentences = Object.values(missing)
  return (
    <div className="host-note">
      {error === null ? null : isComplete ? <Stale live={live} /> : <ProblemNote error={error} retry={poll.now} />}
      {lacks.length === 0 ? null : (
        <details>
          <summary>Parts are left out, because you may not read them</summary>
          <ul>
            {lacks.map((lack) => (
              <li key={lackText(lack)}>
                <code>{lackText(lack)}</code>
                {consequenceOf(lack.resource)}
              </li>
            ))}
          </ul>
        </details>
      )}
      {sentences.length === 0 ? null : (
        <details>
          <summary>What the dashboard shows, and {host} does not</summary>
          <ul>
            {sentences.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}

const consequences: Readonly<Record<string, string>> = {
  nodes: ': the page shows the nodes that have a pod, without their zones, and counts them as Ready.',
  pods: ': the page shows only the counts of the DaemonSet.',
  'daemonsets.apps': ': the page shows no node and no version.',
}

function consequenceOf(resource: string): string {
  return valueIn(consequences, resource) ?? ''
}

function Stale({ live }: { readonly live: LiveState }): ReactNode {
  if (live.kind !== 'reconnecting') return null
  return (
    <p role="status" className="tone-bad">
      Not current: the last read was at {new Date(live.staleSinceMs).toLocaleTimeString()}. <bdi>{live.why}</bdi>
    </p>
  )
}
