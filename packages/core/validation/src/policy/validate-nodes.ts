import type { NodeRules } from '@tranche/api-schema'
import { isLabelKey } from '../fields/names.ts'
import { findingsOfEach } from '../problems/bounded.ts'
import { type Problem, problemOf } from '../problems/problem.ts'
import { matchesEverything, selectorFaults } from '../fields/selector-faults.ts'
import { durationProblems, numberProblems, repeated, thresholdProblems } from './validate-values.ts'

const path = 'spec.nodes'

/** Checks the node rules of a policy: order, exclusions, spread and NotReady nodes. */
export function validateNodes({ order, exclude, spread, notReady }: NodeRules): readonly Problem[] {
  return [
    ...orderProblems(order ?? []),
    ...excludeProblems(exclude ?? []),
    ...spreadProblems(spread ?? []),
    ...thresholdProblems(`${path}.notReady.exempt`, notReady?.exempt),
    ...durationProblems(`${path}.notReady.after`, notReady?.after),
  ]
}

function orderProblems(order: NonNullable<NodeRules['order']>): readonly Problem[] {
  return findingsOfEach(order, ({ selector, by }, index) => {
    const at = `${path}.order[${index}]`
    if (selector === undefined && by === undefined) {
      return [problemOf('NodeOrderKey', { path: `${at}.selector`, value: undefined, fix: 'add selector or by, or remove the entry' })]
    }
    if (isIdle(order, index))
      return [problemOf('NodeOrderIdle', { path: selector === undefined ? `${at}.by` : `${at}.selector`, value: selector ?? by })]
    return selectorFaults(`${at}.selector`, selector ?? {}).map((fault) => problemOf('PolicySelector', fault))
  })
}

/** Whether an earlier entry without a selector already decides: Name orders all nodes, Oldest and Newest order by age. */
function isIdle(order: NonNullable<NodeRules['order']>, index: number): boolean {
  const earlier = order.slice(0, index).flatMap(({ selector, by }) => (selector === undefined ? [by] : []))
  const { selector, by } = order[index] ?? {}
  const isByAge = selector === undefined && (by === 'Oldest' || by === 'Newest')
  return earlier.includes('Name') || (isByAge && (earlier.includes('Oldest') || earlier.includes('Newest')))
}

function excludeProblems(exclude: NonNullable<NodeRules['exclude']>): readonly Problem[] {
  return findingsOfEach(exclude, (selector, index) => {
    const at = `${path}.exclude[${index}]`
    if (matchesEverything(selector)) return [problemOf('ExcludeAll', { path: at, value: selector })]
    return selectorFaults(at, selector).map((fault) => problemOf('PolicySelector', fault))
  })
}

function spreadProblems(spread: NonNullable<NodeRules['spread']>): readonly Problem[] {
  const twice = repeated(spread.map(({ topologyKey }) => topologyKey))
  return spread.flatMap(({ topologyKey, maxUnavailable }, index) => {
    const at = `${path}.spread[${index}]`
    const isWrong = !isLabelKey(topologyKey)
    return [
      ...(isWrong
        ? [problemOf('SpreadKey', { path: `${at}.topologyKey`, value: topologyKey, message: 'it is not a valid label key' })]
        : []),
      ...(!isWrong && twice.includes(index)
        ? [
            problemOf('SpreadKey', {
              path: `${at}.topologyKey`,
              value: topologyKey,
              message: 'the label is listed twice',
              fix: 'remove one',
            }),
          ]
        : []),
      ...numberProblems(`${at}.maxUnavailable`, maxUnavailable),
    ]
  })
}
