/** Server-sent event, as defined in the HTML standard. */
export interface ServerEvent {
  readonly data: string
  /** Last id that the stream sent, in this event or before; empty if it sent none. */
  readonly id: string
  /** Whether this event sent the id: everything before it is complete. */
  readonly isMark: boolean
  /** Reconnect delay that the stream has just set, in milliseconds; null if it set none. */
  readonly retryMs: number | null
}

/** Maximum length of an event in characters; a stream that never ends its line is not ours. */
const LONGEST_EVENT = 4_194_304

/** Incremental parser of a stream. */
export interface EventParser {
  /** @returns the events that end in `text`, without comments (such as heartbeats) and without events that have no data */
  push(text: string): readonly ServerEvent[]
  /** Number of blocks so far that sent an id, also those without data: each confirms that everything before it was sent. */
  readonly marks: number
  /** Id for the next connection: that of the last complete block, even if it had no data. */
  readonly lastId: string
}

/**
 * Creates a parser of the events of a stream.
 *
 * @param lastId id that was sent in the request; valid until the stream sends another
 * @throws {Error} (push) if an event is longer than 4 MiB
 */
export function createEventParser(lastId = ''): EventParser {
  let rest = ''
  let id = lastId
  let data: string[] = []
  let size = 0
  let isMark = false
  let retryMs: number | null = null
  let marks = 0
  return {
    get marks() {
      return marks
    },
    push(text) {
      const lines = `${rest}${text}`.split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ''
      const events = lines.flatMap(take)
      if (rest.length + size > LONGEST_EVENT) throw new Error(`an event is longer than ${LONGEST_EVENT} characters`)
      return events
    },
    get lastId() {
      return lastId
    },
  }

  function take(line: string): readonly ServerEvent[] {
    if (line === '') return finish()
    const { field, value } = fieldOf(line)
    if (field === 'data') {
      data.push(value)
      size += value.length
    }
    if (field === 'id' && !value.includes('\0')) {
      id = value
      isMark = true
    }
    if (field === 'retry' && /^\d+$/.test(value)) retryMs = Number(value)
    return []
  }

  function finish(): readonly ServerEvent[] {
    const said = data
    data = []
    size = 0
    lastId = id
    const isMarked = isMark
    if (isMarked) marks += 1
    isMark = false
    if (said.length === 0) return []
    const event = { data: said.join('\n'), id, isMark: isMarked, retryMs }
    retryMs = null
    return [event]
  }
}

function fieldOf(line: string): { readonly field: string; readonly value: string } {
  const colon = line.indexOf(':')
  if (colon < 0) return { field: line, value: '' }
  return { field: line.slice(0, colon), value: line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1) }
}
