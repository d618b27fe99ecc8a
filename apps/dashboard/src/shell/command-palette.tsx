import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react'
import { useFleet } from '../live/use-fleet.ts'
import { usePorts } from '../ports/dashboard-ports.ts'
import { findCommands } from './find-commands.ts'

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
        autoFocus
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
      <ul id={id} role="listbox" aria-label="Results">
        {commands.map(({ title, detail }, index) => (
          <li key={`${title} ${detail}`} id={`${id}-${index}`} role="option" aria-selected={index === at} onClick={() => run(index)}>
            <bdi>{title}</bdi> <span className="quiet">{detail}</span>
          </li>
        ))}
      </ul>
      {commands.length === 0 ? <p role="status">Nothing matches.</p> : null}
    </>
  )
}
