import { useQuery } from '@tanstack/react-query'
import type { RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { countText } from '../../../format/duration.ts'
import { imageVersion } from '../../../format/image-change.ts'
import { ProblemNote } from '../../../parts/problem-note.tsx'
import { usePorts } from '../../../ports/dashboard-ports.ts'
import { queryKeyOf } from '../../../ports/renew-when-changed.ts'
import type { ActionChoice } from './action-texts.ts'

/** Properties of the choices of an action. */
interface ChoiceProps {
  readonly choice: ActionChoice
  readonly onChange: (choice: ActionChoice) => void
}

/** Whether a promote also skips soak and analysis. */
export function PromoteChoice({ choice, onChange }: ChoiceProps): ReactNode {
  return (
    <label className="block">
      <input type="checkbox" checked={choice.isFull} onChange={(event) => onChange({ ...choice, isFull: event.target.checked })} /> Also
      skip soak and analysis
    </label>
  )
}

/** Target step of a jump. */
export function JumpChoice({ report, choice, onChange }: ChoiceProps & { readonly report: RolloutReport }): ReactNode {
  return (
    <label className="block">
      Go to{' '}
      <select required value={choice.step ?? ''} onChange={(event) => onChange({ ...choice, step: Number(event.target.value) })}>
        <option value="" disabled>
          choose a step
        </option>
        {report.steps.map(({ index, replicas, nodes, state }) => (
          <option key={index} value={index} disabled={state === 'current'}>
            step {index}: {replicas} ({countText(nodes, 'node')}){state === 'current' ? ', the present one' : ''}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Target revision of an undo: any but the present one. */
export function RevisionChoice({ report, choice, onChange }: ChoiceProps & { readonly report: RolloutReport }): ReactNode {
  const { api } = usePorts()
  const key = { namespace: report.namespace, name: report.name }
  const { data, error } = useQuery({ queryKey: [...queryKeyOf(key), 'revisions'], queryFn: ({ signal }) => api.revisions(key, { signal }) })
  if (error !== null) return <ProblemNote error={error} />
  return (
    <fieldset className="block">
      <legend>Revision</legend>
      {data?.slice(1).map(({ revision, number, images, nodes, held, changeCause }) => (
        <label key={revision} className="block">
          <input
            type="radio"
            name="revision"
            checked={choice.toRevision === revision}
            onChange={() => onChange({ ...choice, toRevision: revision })}
          />{' '}
          {number}: <bdi>{images.map(imageVersion).join(', ')}</bdi>{' '}
          <span className="quiet prose">
            {revision}
            {nodes === 0 ? '' : `, on ${countText(nodes, 'node')}`}
            {held ? ', blocked: it was rolled back before' : ''}
            {changeCause === undefined ? '' : `, ${changeCause}`}
          </span>
        </label>
      ))}
      {data !== undefined && data.length < 2 ? <p>There is no earlier revision.</p> : null}
    </fieldset>
  )
}
