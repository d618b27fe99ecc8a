import type { Clock } from '@tranche/clock'
import type { RecordedDelivery } from '@tranche/recording'
import type { Exchange, WireRequest } from '@tranche/wire'

/**
 * Records, as deliveries, what a process takes from its lists and watches, at the time when it takes it. A process that is frozen, or
 * that has restarted its watch, never takes what is still in the socket.
 *
 * A list counts when a watch continues it: what a process lists for one decision says nothing about what its watches have shown.
 *
 * @param exchange as the process uses it
 * @param clock of the recording
 */
export function recordTaken(exchange: Exchange, actor: string, clock: Clock, take: (delivery: RecordedDelivery) => void): Exchange {
  /** Versions of lists, by the path of the watch that would continue them. */
  const listed = new Map<string, Set<number>>()
  return async (request, signal) => {
    const of = resourceIn(request)
    const taken = (rv: number): void => take({ t: Math.round(clock.nowMs() * 1_000) / 1_000, to: actor, of, rv })
    const isRead = request.method === 'GET' && !isPartial(request)
    if (isRead && isWatch(request)) {
      const from = startOf(request)
      if (from !== undefined && listed.get(pathIn(request))?.delete(from)) taken(from)
    }
    const response = await exchange(request, signal)
    if (!isRead || response.status !== 200) return response
    if (isWatch(request)) return { ...response, body: noted(response.body, (chunk) => versionsOfEvents(chunk).forEach(taken)) }
    const versions = listed.get(pathIn(request)) ?? new Set()
    listed.set(pathIn(request), versions)
    return { ...response, body: noted(response.body, (chunk) => versionsOfList(chunk).forEach((rv) => versions.add(rv))) }
  }
}

function pathIn({ path }: Pick<WireRequest, 'path'>): string {
  return path.replace(/\?.*/, '')
}

/** Version after which a watch begins. */
function startOf({ path }: WireRequest): number | undefined {
  const text = /[?&]resourceVersion=(\d+)/.exec(path)?.[1]
  return text === undefined ? undefined : Number(text)
}

/** A consumer that reads the next chunk has processed the one before. */
async function* noted(body: AsyncIterable<string>, taken: (chunk: string) => void): AsyncIterable<string> {
  for await (const chunk of body) {
    yield chunk
    taken(chunk)
  }
}

function isWatch({ path }: WireRequest): boolean {
  return /[?&]watch=(1|true)/.test(path)
}

/** Objects that labels or fields select say nothing about how much of the resource the process knows. */
function isPartial({ path }: WireRequest): boolean {
  return /[?&](label|field)Selector=/.test(path)
}

/** Plural: the last part of the path of a list or a watch. */
function resourceIn({ path }: WireRequest): string {
  return pathIn({ path }).split('/').at(-1)!
}

const VERSION = '"resourceVersion":"'

/**
 * A chunk holds whole events, one per line, and a process may decide something between two of them. An event contains no `resourceVersion`
 * but that of its object: the quotes of text in annotations are escaped.
 */
function versionsOfEvents(events: string): readonly number[] {
  return events.split('\n').flatMap((event) => versionAt(event, event.indexOf(VERSION)))
}

/** Empty for a page that is not the last one, and for anything that is not a list. */
function versionsOfList(body: string): readonly number[] {
  const [, metadata] = /^\{"kind":"\w+List","apiVersion":"[^"]+","metadata":(\{[^}]*\})/.exec(body) ?? []
  return metadata === undefined || metadata.includes('"continue"') ? [] : versionAt(metadata, metadata.indexOf(VERSION))
}

function versionAt(text: string, index: number): readonly number[] {
  return index === -1 ? [] : [Number.parseInt(text.slice(index + VERSION.length, index + VERSION.length + 20), 10)]
}
