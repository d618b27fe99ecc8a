import { type FormEvent, type ReactNode, useState } from 'react'
import { namespacesIn } from './namespace-store.ts'

/** Properties of {@link NamespaceChoice}. */
interface NamespaceChoiceProps {
  /** Chosen namespaces; null: all. */
  readonly chosen: readonly string[] | null
  readonly onChoose: (namespaces: readonly string[] | null) => void
}

/** Namespaces whose Rollouts are listed: a user without a right on the whole cluster names those that they may list. */
export function NamespaceChoice({ chosen, onChoose }: NamespaceChoiceProps): ReactNode {
  const [text, setText] = useState(chosen?.join(' ') ?? '')
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onChoose(namespacesIn(text))
  }
  return (
    <form className="host-namespaces" onSubmit={submit}>
      <label>
        Namespaces, separated by spaces; empty for all
        <input type="text" spellCheck={false} value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <button type="submit">Show</button>
    </form>
  )
}
