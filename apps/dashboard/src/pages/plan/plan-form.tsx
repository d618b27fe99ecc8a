import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { faultsOf, faultyInput, LONGEST_APPROVAL_MINUTES, type PlanInputs } from './plan-inputs.ts'

/** Properties of {@link PlanForm}. */
interface PlanFormProps {
  readonly inputs: PlanInputs
  readonly onSubmit: (inputs: PlanInputs) => void
}

/** The fields as the user types them. */
interface Draft {
  readonly image: string
  readonly faults: string
  readonly approve: string
}

/** Inputs of a forecast: an image, faults to assume, and how long people take to approve. */
export function PlanForm({ inputs, onSubmit }: PlanFormProps): ReactNode {
  const { draft, setDraft } = useDraft(inputs)
  const written: PlanInputs = {
    image: draft.image.trim(),
    faults: faultsOf(draft.faults),
    approveMinutes: Math.min(LONGEST_APPROVAL_MINUTES, Math.max(0, Math.round(Number(draft.approve) || 0))),
  }
  const fault = faultyInput(written)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (fault === null) onSubmit(written)
  }
  return (
    <form className="plan-form" onSubmit={submit}>
      <ChangeFields draft={draft} onDraft={setDraft} isFaulty={fault !== null} />
      {fault === null ? null : (
        <p role="alert" className="tone-bad">
          {fault}
        </p>
      )}
      <ApprovalField draft={draft} onDraft={setDraft} />
      <p>
        <button type="submit" className="primary">
          Forecast
        </button>
      </p>
    </form>
  )
}

/** Properties of the fields. */
interface FieldsProps {
  readonly draft: Draft
  readonly onDraft: (draft: Draft) => void
}

function ChangeFields({ draft, onDraft, isFaulty }: FieldsProps & { readonly isFaulty: boolean }): ReactNode {
  const id = useId()
  return (
    <>
      <label>
        New image
        <input
          type="text"
          value={draft.image}
          placeholder="as it is now"
          autoComplete="off"
          spellCheck={false}
          aria-describedby={`${id}-image`}
          onChange={(event) => onDraft({ ...draft, image: event.target.value })}
        />
        <span id={`${id}-image`} className="hint">
          <code>IMAGE</code>, or <code>CONTAINER=IMAGE</code> if the pod has several containers
        </span>
      </label>
      <label>
        Faults to assume, one a line
        <textarea
          rows={2}
          value={draft.faults}
          placeholder="none"
          spellCheck={false}
          aria-describedby={`${id}-faults`}
          aria-invalid={isFaulty}
          onChange={(event) => onDraft({ ...draft, faults: event.target.value })}
        />
        <span id={`${id}-faults`} className="hint">
          <code>NODE fails</code>, <code>NODE is NotReady</code>, <code>NODE crashes</code>, the same with a zone, <code>3 crash</code>,{' '}
          <code>5% crash</code>
        </span>
      </label>
    </>
  )
}

function ApprovalField({ draft, onDraft }: FieldsProps): ReactNode {
  return (
    <label>
      A person approves after
      <span>
        <input
          type="number"
          min="0"
          max={LONGEST_APPROVAL_MINUTES}
          value={draft.approve}
          onChange={(event) => onDraft({ ...draft, approve: event.target.value })}
        />{' '}
        minutes
      </span>
    </label>
  )
}

/** The draft begins again when the inputs change from outside, such as by the back button. */
function useDraft(inputs: PlanInputs): { readonly draft: Draft; readonly setDraft: (draft: Draft) => void } {
  const [draft, setDraft] = useState(() => draftOf(inputs))
  const key = JSON.stringify(inputs)
  const [seen, setSeen] = useState(key)
  if (seen !== key) {
    setSeen(key)
    setDraft(draftOf(inputs))
  }
  return { draft, setDraft }
}

function draftOf({ image, faults, approveMinutes }: PlanInputs): Draft {
  return { image, faults: faults.join('\n'), approve: String(approveMinutes) }
}
