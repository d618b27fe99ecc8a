import type { Body } from './body.ts'
import { within } from './deadline.ts'
import type { ClusterHarness } from './harness.ts'

/** One line of a watch. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: Body
}

/** A watch, event by event. */
export interface Watch {
  /** Waits for the next event. @throws {Error} when the stream ends, or none comes within a minute */
  next(): Promise<WatchEvent>
  /** Waits for this number of events. */
  take(count: number): Promise<readonly WatchEvent[]>
  /** Waits for the end of the stream. @returns what came before it */
  rest(): Promise<readonly WatchEvent[]>
  /** As `next`, without letting time pass or watching it: for use below a wait. */
  read(): Promise<WatchEvent>
  close(): Promise<void>
}

/** @returns a reader of the lines that `chunks` are cut from */
export function openWatch(cluster: ClusterHarness, chunks: AsyncIterable<string>): Watch {
  const lines = linesOf(chunks)
  const watch: Watch = {
    next: () => within(cluster, 'the next event of a watch', watch.read()),
    async take(count) {
      const events: WatchEvent[] = []
      while (events.length < count) events.push(await watch.next())
      return events
    },
    rest: () => within(cluster, 'the end of a watch', collect(lines)),
    async read() {
      const { done, value } = await lines.next()
      if (done) throw new Error('the watch has ended')
      return JSON.parse(value) as WatchEvent
    },
    close: async () => void (await lines.return(undefined)),
  }
  return watch
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines.filter((line) => line !== '')
  }
}

async function collect(lines: AsyncGenerator<string, void, undefined>): Promise<readonly WatchEvent[]> {
  const events: WatchEvent[] = []
  for await (const line of lines) events.push(JSON.parse(line) as WatchEvent)
  return events
}
