import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react'
import { useFleet } from '../ports/use-fleet.ts'
import { usePorts } from '../ports/dashboard-ports.ts'
import { type Command, findCommands } from './find-commands.ts'

/** Properties of {@link CommandPalette}. */
interface CommandPaletteProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** A search over all Rollouts and pages, for the keyboard. */
export function CommandPalette({ isOpen, onClose }: CommandPaletteProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (isOpen) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isOpen])
  return (
    <dialog ref={dialog} className="palette" aria-label="Find a rollout or page" onClose={onClose}>
      {isOpen ? <Finder onDone={onClose} /> : null}
    </dialog>
  )
}

function Finder({ onDone }: { readonly onDone: () => void }): ReactNode {
  const { rollouts } = useFleet()
  const { go } = usePorts()
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const commands = useMemo(() => findCommands(text, rollouts.values()), [text, rollouts])
  const at = Math.min(active, commands.length - 1)
  const run = (index: number): void => {
    const command = commands[index]
    if (command === undefined) return
    onDone()
    go(command.place)
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 && event.key !== 'Enter') return
    event.preventDefault()
    if (event.key === 'Enter') run(at)
    else setActive((at + step + commands.length) % Math.max(1, commands.length))
  }
  return (
    <>
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-label="Find"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={commands.length === 0 ? undefined : `${id}-${at}`}
        placeholder="Name, namespace or image"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setActive(0)
        }}
        onKeyDown={onKey}
      />
      <Results id={id} commands={commands} at={at} onRun={run} />
      {commands.length === 0 ? <p role="status">Nothing matches.</p> : null}
    </>
  )
}

/** Properties of {@link Results}. */
interface ResultsProps {
  readonly id: string
  readonly commands: readonly Command[]
  /** Index of the active one. */
  readonly at: number
  readonly onRun: (index: number) => void
}

/** The keyboard stays in the text field, which names the active option. */
function Results({ id, commands, at, onRun }: ResultsProps): ReactNode {
  return (
    <div id={id} role="listbox" aria-label="Results">
      {commands.map(({ title, detail }, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys
        <div
          key={`${title} ${detail}`}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          onClick={() => onRun(index)}
        >
          <bdi>{title}</bdi> <span className="quiet">{detail}</span>
        </div>
      ))}
    </div>
  )
}
