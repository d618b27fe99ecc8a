import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiProblemError } from '@tranche/api-client'
import type { ActionType, RevisionReport, RolloutReport } from '@tranche/api-schema'
import { isAppError } from '@tranche/errors'
import { type FormEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react'
import { ProblemNote } from '../../../parts/problem-note.tsx'
import { useMissing, usePorts } from '../../../ports/dashboard-ports.ts'
import { queryKeyOf } from '../../../ports/renew-when-changed.ts'
import { ActionForecast } from './action-forecast.tsx'
import { type ActionChoice, type ActionText, bodyOfAction, textOfAction } from './action-texts.ts'
import { JumpChoice, PromoteChoice, RevisionChoice } from './action-choices.tsx'

/** Properties of {@link ActionDialog}. */
interface ActionDialogProps {
  readonly type: ActionType
  /** Report when the dialog was opened: the action is for this moment. */
  readonly seen: RolloutReport
  /** Present report. */
  readonly now: RolloutReport
  /** @param result outcome of the action; null if the user cancelled */
  readonly onClose: (result: string | null) => void
}

/** Longest time that the server waits for the controller's answer, in milliseconds. */
const WAIT_MS = 20_000

/** Confirmation of an action: its effect, its moment, its reason, and the name of the Rollout where it affects many nodes. */
export function ActionDialog({ type, seen, now, onClose }: ActionDialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  const [choice, setChoice] = useState<ActionChoice>({ reason: '', isFull: false, step: null, toRevision: null })
  const [typedName, setTypedName] = useState('')
  useEffect(() => dialog.current?.showModal(), [])
  const missing = useMissing()
  const revisions = useRevisions(type, seen)
  const changedConfig = revisions?.find(({ revision }) => revision === seen.canaryRevision)?.changedConfig
  const text = textOfAction(type, seen, { isFull: choice.isFull, ...(changedConfig !== undefined && { changedConfig }) })
  const { send, isPending, error } = useSend(type, seen, { choice, revisions, onClose })
  const isComplete =
    (!text.mustTypeName || typedName === seen.name) &&
    (type !== 'jump' || choice.step !== null) &&
    (type !== 'undo' || choice.toRevision !== null)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (isComplete) send()
  }
  return (
    <dialog ref={dialog} className="action-dialog" aria-labelledby={titleId} onClose={() => onClose(null)}>
      <form onSubmit={submit}>
        <h2 id={titleId}>{text.question}</h2>
        {text.effects.map((effect) => (
          <p key={effect}>{effect}</p>
        ))}
        <MovedOn seen={seen} now={now} />
        {type === 'promote' ? <PromoteChoice choice={choice} onChange={setChoice} /> : null}
        {type === 'jump' ? <JumpChoice report={seen} choice={choice} onChange={setChoice} /> : null}
        {type === 'undo' ? <RevisionChoice report={seen} choice={choice} onChange={setChoice} /> : null}
        {text.hasForecast && missing.plan === undefined ? <ActionForecast rollout={seen} /> : null}
        <label className="block">
          Reason <span className="hint">(kept on record)</span>
          <textarea
            maxLength={1_024}
            rows={2}
            value={choice.reason}
            onChange={(event) => setChoice({ ...choice, reason: event.target.value })}
          />
        </label>
        {text.mustTypeName ? <NameField name={seen.name} typed={typedName} onChange={setTypedName} /> : null}
        {error === null ? null : <ActionError error={error} />}
        <div className="dialog-buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" className={type === 'abort' ? 'danger' : 'primary'} disabled={!isComplete || isPending}>
            {isPending ? 'Waiting for the controller…' : buttonOf(text)}
          </button>
        </div>
      </form>
    </dialog>
  )
}

function buttonOf({ label }: ActionText): string {
  return label.replace('…', '')
}

/** Revisions, as far as an action names some; undefined until they have arrived. */
function useRevisions(type: ActionType, { namespace, name }: RolloutReport): readonly RevisionReport[] | undefined {
  const { api } = usePorts()
  const key = { namespace, name }
  return useQuery({
    queryKey: [...queryKeyOf(key), 'revisions'],
    queryFn: ({ signal }) => api.revisions(key, { signal }),
    enabled: type === 'undo' || type === 'abort',
  }).data
}

/** What is sent, and what follows. */
interface SendParts {
  readonly choice: ActionChoice
  readonly revisions: readonly RevisionReport[] | undefined
  readonly onClose: ActionDialogProps['onClose']
}

function useSend(
  type: ActionType,
  seen: RolloutReport,
  { choice, revisions, onClose }: SendParts,
): { readonly send: () => void; readonly isPending: boolean; readonly error: unknown } {
  const { api } = usePorts()
  const queries = useQueryClient()
  const key = { namespace: seen.namespace, name: seen.name }
  // One key per dialog: a second click, or a repetition after a lost answer, is the same action.
  const idempotencyKey = useMemo(() => crypto.randomUUID(), [])
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.act(key, type, bodyOfAction(type, seen, choice, revisions?.[0]?.revision), { waitMs: WAIT_MS, idempotencyKey }),
    onError(failure) {
      // The rights have changed since they were read: the buttons must show it.
      if (failure instanceof ApiProblemError && failure.status === 403)
        void queries.invalidateQueries({ queryKey: [...queryKeyOf(key), 'permissions'] })
    },
    onSuccess({ state, message }) {
      void queries.invalidateQueries({ queryKey: queryKeyOf(key) })
      onClose(state === 'acknowledged' ? message : `${message} The controller has not answered yet; its answer appears above.`)
    },
  })
  return { send: () => mutate(), isPending, error }
}

/** Warns while the dialog is open that the release has changed since the user opened it. */
function MovedOn({ seen, now }: Pick<ActionDialogProps, 'seen' | 'now'>): ReactNode {
  const hasMoved = seen.step?.index !== now.step?.index || seen.canaryRevision !== now.canaryRevision || seen.outcome !== now.outcome
  if (!hasMoved) return null
  return (
    <p role="alert" className="tone-wait">
      The release has moved on since you opened this dialog: {now.message} Close it and look again.
    </p>
  )
}

function NameField({
  name,
  typed,
  onChange,
}: {
  readonly name: string
  readonly typed: string
  readonly onChange: (typed: string) => void
}): ReactNode {
  return (
    <label className="block">
      Type <strong>{name}</strong> to confirm
      <input type="text" autoComplete="off" spellCheck={false} value={typed} onChange={(event) => onChange(event.target.value)} />
    </label>
  )
}

function ActionError({ error }: { readonly error: unknown }): ReactNode {
  if (isAppError(error) && error.code === 'MOVED_ON')
    return (
      <p role="alert" className="tone-bad prose">
        Nothing was done: {error.message} Close this dialog and look again.
      </p>
    )
  return <ProblemNote error={error} />
}
