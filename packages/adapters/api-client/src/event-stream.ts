/** One event of a stream, as of the HTML standard (server-sent events). */
export interface ServerEvent {
  readonly data: string
  /** Last id that the stream named, here or before; empty where it has named none. */
  readonly id: string
  /** How long to wait before connecting anew, in milliseconds, where the stream has just said so. */
  readonly retryMs: number | null
}

/** Longest event that is read, in characters: a stream that never ends its line is no stream of ours. */
const LONGEST_EVENT = 4_194_304

/** What becomes of a stream as it comes. */
export interface EventParser {
  /** @returns the events that end in `text`; comments, such as heartbeats, and what has no data are left out */
  push(text: string): readonly ServerEvent[]
  /** The id to come back with: that of the last block that has ended, which may have had no data. */
  readonly lastId: string
}

/**
 * Reads the events of a stream.
 *
 * @param lastId with which the stream was asked for: it holds until the stream names another
 * @throws {Error} (push) where an event is longer than 4 MiB
 */
export function createEventParser(lastId = ''): EventParser {
  let rest = ''
  let id = lastId
  let data: string[] = []
  let size = 0
  let retryMs: number | null = null
  return {
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
    if (field === 'id' && !value.includes('\0')) id = value
    if (field === 'retry' && /^\d+$/.test(value)) retryMs = Number(value)
    return []
  }

  function finish(): readonly ServerEvent[] {
    const said = data
    data = []
    size = 0
    lastId = id
    if (said.length === 0) return []
    const event = { data: said.join('\n'), id, retryMs }
    retryMs = null
    return [event]
  }
}

function fieldOf(line: string): { readonly field: string; readonly value: string } {
  const colon = line.indexOf(':')
  if (colon < 0) return { field: line, value: '' }
  return { field: line.slice(0, colon), value: line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1) }
}
