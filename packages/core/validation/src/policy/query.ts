import { clipText } from '@tranche/kube-types'
import { parser } from '@prometheus-io/lezer-promql'

/** Maximum characters of a query shown at an error. */
const SHOWN = 30

/** Characters before an error in which the name of a function is looked for: the search is quadratic in them. */
const BEFORE = 200

/** @returns the syntax error of a PromQL query, with its position; null for a valid one */
export function queryFault(query: string): string | null {
  const place = firstError(query)
  if (place === null) return null
  const called = /([A-Za-z_:][\w:]*)\s*$/.exec(query.slice(Math.max(0, place - BEFORE), place))?.[1]
  if (query[place] === '(' && called !== undefined) return `PromQL has no function ${called}`
  const rest = query.slice(place).trim()
  if (rest === '') return 'the query is incomplete'
  return `unexpected ${JSON.stringify(clipText(rest, SHOWN))} at character ${place + 1}`
}

function firstError(query: string): number | null {
  let first: number | null = null
  parser.parse(query).iterate({
    enter: ({ type, from }) => {
      if (type.isError && first === null) first = from
    },
  })
  return first
}
