import type { Clock } from '@tranche/clock'
import type { RecordedDelivery } from '@tranche/recording'
import type { Exchange, WireRequest } from '@tranche/wire'

/**
 * Records as deliveries what a process has taken of lists and watches, when it has: what lies in the socket of one that is frozen,
 * or that has begun its watch anew, was never taken.
 *
 * @param exchange as the process has it
 * @param clock of the recording
 */
export function recordTaken(exchange: Exchange, actor: string, clock: Clock, take: (delivery: RecordedDelivery) => void): Exchange {
  return async (request, signal) => {
    const response = await exchange(request, signal)
    if (request.method !== 'GET' || response.status !== 200) return response
    const versionsIn = isWatch(request) ? versionsOfEvents : versionsOfList
    const of = resourceIn(request)
    const reported = (chunk: string): void => {
      const t = Math.round(clock.nowMs() * 1_000) / 1_000
      for (const rv of versionsIn(chunk)) take({ t, to: actor, of, rv })
    }
    return { ...response, body: noted(response.body, reported) }
  }
}

/** Whoever reads on has dealt with what came before. */
async function* noted(body: AsyncIterable<string>, taken: (chunk: string) => void): AsyncIterable<string> {
  for await (const chunk of body) {
    yield chunk
    taken(chunk)
  }
}

function isWatch({ path }: WireRequest): boolean {
  return /[?&]watch=(1|true)/.test(path)
}

/** Plural: the last part of the path of a list or a watch. */
function resourceIn({ path }: WireRequest): string {
  return path.replace(/\?.*/, '').split('/').at(-1)!
}

const VERSION = '"resourceVersion":"'

/**
 * A chunk holds whole events, each on a line of its own, and between two of them a process may decide something. An event tells no version
 * but that of its object; what an annotation quotes has its quotes escaped.
 */
function versionsOfEvents(events: string): readonly number[] {
  return events.split('\n').flatMap((event) => versionAt(event, event.indexOf(VERSION)))
}

/** Nothing for a page that is not the last one, and for what is no list. */
function versionsOfList(body: string): readonly number[] {
  const [, metadata] = /^\{"kind":"\w+List","apiVersion":"[^"]+","metadata":(\{[^}]*\})/.exec(body) ?? []
  return metadata === undefined || metadata.includes('"continue"') ? [] : versionAt(metadata, metadata.indexOf(VERSION))
}

function versionAt(text: string, index: number): readonly number[] {
  return index === -1 ? [] : [Number.parseInt(text.slice(index + VERSION.length, index + VERSION.length + 20), 10)]
}
