import { useQuery } from '@tanstack/react-query'
import type { ActionType, RolloutReport } from '@tranche/api-schema'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { usePorts } from '../../../ports/dashboard-ports.ts'
import { queryKeyOf } from '../../../ports/renew-when-changed.ts'
import { ActionDialog } from './action-dialog.tsx'
import { actionOrder, textOfAction } from './action-texts.ts'

/** Buttons of the actions that are possible now. One that the user has no right to is disabled, and says which right is missing. */
export function ActionBar({ report }: { readonly report: RolloutReport }): ReactNode {
  const { api } = usePorts()
  const [open, setOpen] = useState<{ readonly type: ActionType; readonly seen: RolloutReport } | null>(null)
  const [result, setResult] = useState<string | null>(null)
  const key = { namespace: report.namespace, name: report.name }
  const { data: permissions } = useQuery({
    queryKey: [...queryKeyOf(key), 'permissions'],
    queryFn: ({ signal }) => api.permissions(key, { signal }),
    staleTime: 60_000,
  })
  const possible = actionOrder.filter((type) => report.actions.includes(type))
  const missing = permissions?.items.filter(({ action, allowed }) => !allowed && possible.includes(action)) ?? []
  return (
    <section className="actions" aria-label="Actions">
      {possible.map((type) => {
        const lacks = missing.find(({ action }) => action === type)
        const isNeeded = report.need?.actions[0] === type
        return (
          <button
            key={type}
            type="button"
            className={type === 'abort' ? 'danger' : isNeeded ? 'primary' : ''}
            disabled={lacks !== undefined}
            title={lacks === undefined ? undefined : `You may not ${lacks.permission}`}
            onClick={() => setOpen({ type, seen: report })}
          >
            {textOfAction(type, report).label}
          </button>
        )
      })}
      {missing.length === 0 ? null : (
        <MissingRights
          missing={[...new Set(missing.map(({ permission }) => permission))]}
          isReadOnly={missing.length === possible.length}
        />
      )}
      {result === null ? null : <ActionResult key={result} text={result} onDismiss={() => setResult(null)} />}
      {open === null ? null : (
        <ActionDialog
          type={open.type}
          seen={open.seen}
          now={report}
          onClose={(text) => {
            setOpen(null)
            if (text !== null) setResult(text)
          }}
        />
      )}
    </section>
  )
}

/** Outcome of an action. It takes the focus: the dialog is gone, and often the button too. */
function ActionResult({ text, onDismiss }: { readonly text: string; readonly onDismiss: () => void }): ReactNode {
  const note = useRef<HTMLParagraphElement>(null)
  useEffect(() => note.current?.focus(), [])
  return (
    <p ref={note} role="status" tabIndex={-1} className="action-result">
      <bdi>{text}</bdi>{' '}
      <button type="button" className="link" onClick={onDismiss}>
        Dismiss
      </button>
    </p>
  )
}

function MissingRights({ missing, isReadOnly }: { readonly missing: readonly string[]; readonly isReadOnly: boolean }): ReactNode {
  return (
    <details className="missing-rights">
      <summary>{isReadOnly ? 'Read-only: you may not act on this Rollout' : 'Some actions are not allowed to you'}</summary>
      <p>Missing rights:</p>
      <ul>
        {missing.map((permission) => (
          <li key={permission}>
            <code>{permission}</code>
          </li>
        ))}
      </ul>
    </details>
  )
}
