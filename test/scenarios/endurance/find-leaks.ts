import type { EnduranceSample } from './endurance.ts'

/** Most bytes of a status: etcd takes objects of 1.5 MiB. */
const STATUS_BYTES_MAX = 256 * 1024
/** Objects whose number depends on the faults of the last hour. */
const changing = ['events']

/**
 * Compares the first sample after the warm-up with the last one.
 *
 * @param warmUp number of releases after which every bounded list and history is full
 * @returns one sentence for each count that has grown, and each status that is too large
 */
export function findLeaks(samples: readonly EnduranceSample[], warmUp: number): readonly string[] {
  const from = samples.find(({ release }) => release >= warmUp)
  const to = samples.at(-1)
  if (from === undefined || to === undefined || from === to) throw new Error(`no two samples after ${warmUp} releases`)
  const span = `in ${to.release - from.release} releases`
  const grown = (what: string, before: number, after: number, most = before): readonly string[] =>
    after > most ? [`${what} grew from ${before} to ${after} ${span}`] : []
  const names = [...new Set([...Object.keys(from.objects), ...Object.keys(to.objects)])]
  return [
    ...grown('pending timers', from.timers, to.timers),
    ...grown('open streams', from.streams, to.streams),
    ...grown('handles', from.handles, to.handles, from.handles + 2),
    ...names.flatMap((name) => {
      const [before = 0, after = 0] = [from.objects[name], to.objects[name]]
      return grown(name, before, after, changing.includes(name) ? 2 * before + 20 : before)
    }),
    ...Object.entries(to.bytes).flatMap(([kind, after]) => {
      const before = from.bytes[kind] ?? 0
      return grown(`bytes of the ${kind}`, before, after, before * 1.1)
    }),
    ...Object.entries(to.largestStatus).flatMap(([kind, bytes]) =>
      bytes > STATUS_BYTES_MAX ? [`a status of a ${kind} had ${bytes} bytes`] : [],
    ),
  ]
}

/** @returns slope of the heap in bytes per release by least squares, after the warm-up; null without heap values */
export function heapSlope(samples: readonly EnduranceSample[], warmUp: number): number | null {
  const points = samples.flatMap(({ release, heapBytes }) => (heapBytes === null || release < warmUp ? [] : [{ x: release, y: heapBytes }]))
  if (points.length < 2) return null
  const mean = (of: (point: { readonly x: number; readonly y: number }) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)]
  return mean((point) => (point.x - x) * (point.y - y)) / mean((point) => (point.x - x) ** 2)
}
