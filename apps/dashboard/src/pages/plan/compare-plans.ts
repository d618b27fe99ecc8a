import type { Forecast } from '@tranche/api-schema'
import { countText } from '../../format/duration.ts'
import { forecastLooks } from './outcome-words.ts'
import { rangeText } from './plan-timeline.ts'

/** Most nodes that a sentence names. */
const MOST_NAMES = 5

/** @returns how plan B differs from plan A, one sentence each; empty if the forecasts are the same */
export function comparePlans(a: Forecast, b: Forecast): readonly string[] {
  return [
    ...outcomeChange(a, b),
    ...countChange('B brings the new version to', a.nodesHit, b.nodesHit),
    ...timeChange(a, b),
    ...peakChange(a, b),
    ...batchChange(a, b),
    ...nodeChanges(a, b),
  ]
}

function outcomeChange({ outcome: a }: Forecast, { outcome: b }: Forecast): readonly string[] {
  return a === b ? [] : [`A ${wordOf(a)}, and B ${wordOf(b)}.`]
}

function wordOf(outcome: Forecast['outcome']): string {
  return forecastLooks[outcome].word.toLowerCase()
}

function countChange(what: string, a: number, b: number): readonly string[] {
  if (a === b) return []
  return [`${what} ${countText(b, 'node')}, ${Math.abs(b - a)} ${b > a ? 'more' : 'fewer'} than A.`]
}

function timeChange({ etaSeconds: a }: Forecast, { etaSeconds: b }: Forecast): readonly string[] {
  if (a === null && b === null) return []
  if (a === null || b === null) return [`Only ${a === null ? 'B' : 'A'} ends by itself, in ${rangeText((a ?? b)!)}.`]
  const [before, after] = [rangeText(a), rangeText(b)]
  if (before === after) return []
  const middle = (range: typeof a): number => (range.low + range.high) / 2
  return [`B ends ${middle(b) > middle(a) ? 'later' : 'earlier'}: in ${after} instead of ${before}.`]
}

function peakChange(a: Forecast, b: Forecast): readonly string[] {
  if (a.peakUnavailable === b.peakUnavailable && a.maxUnavailable === b.maxUnavailable) return []
  return [
    `At most ${countText(b.peakUnavailable, 'node')} of ${b.maxUnavailable} allowed are down at a time with B, ` +
      `${a.peakUnavailable} of ${a.maxUnavailable} with A.`,
  ]
}

function batchChange({ batches: a }: Forecast, { batches: b }: Forecast): readonly string[] {
  if (a.length !== b.length) return [`B has ${b.length} ${b.length === 1 ? 'batch' : 'batches'}, and A ${a.length}.`]
  const at = b.findIndex(({ nodes }, index) => nodes !== a[index]?.nodes)
  return at === -1 ? [] : [`Batch ${b[at]!.index} has ${countText(b[at]!.nodes, 'node')} with B and ${a[at]!.nodes} with A.`]
}

/** Nodes that only one plan updates, and the first difference in the order of those that both update. */
function nodeChanges(a: Forecast, b: Forecast): readonly string[] {
  const [inA, inB] = [updatedIn(a), updatedIn(b)]
  const [setA, setB] = [new Set(inA), new Set(inB)]
  const [onlyA, onlyB] = [inA.filter((name) => !setB.has(name)), inB.filter((name) => !setA.has(name))]
  const [orderA, orderB] = [inA.filter((name) => setB.has(name)), inB.filter((name) => setA.has(name))]
  const at = orderB.findIndex((name, index) => name !== orderA[index])
  return [
    ...(onlyA.length === 0 ? [] : [`Only A updates ${named(onlyA)}.`]),
    ...(onlyB.length === 0 ? [] : [`Only B updates ${named(onlyB)}.`]),
    ...(at === -1 ? [] : [`The order differs from place ${at + 1}: B updates ${orderB[at]}, and A ${orderA[at]}.`]),
  ]
}

/** Names of the updated nodes, in order. */
function updatedIn({ nodes }: Forecast): readonly string[] {
  return nodes
    .filter(({ order }) => order > 0)
    .sort((one, other) => one.order - other.order)
    .map(({ name }) => name)
}

function named(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).join(', ')
  return names.length > MOST_NAMES ? `${shown} and ${names.length - MOST_NAMES} more` : shown
}
