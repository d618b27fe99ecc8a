import { parser } from '@prometheus-io/lezer-promql'

/** How much of a query is shown where it goes wrong, in characters. */
const SHOWN = 30

/** @returns what is wrong with a query by the grammar of Prometheus, with the place; null where nothing is */
export function queryFault(query: string): string | null {
  const place = firstError(query)
  if (place === null) return null
  const called = /([A-Za-z_:][\w:]*)\s*$/.exec(query.slice(0, place))?.[1]
  if (query[place] === '(' && called !== undefined) return `PromQL has no function ${called}`
  const rest = query.slice(place).trim()
  if (rest === '') return 'the query ends too early'
  return `at character ${place + 1}, ${JSON.stringify(rest.slice(0, SHOWN).toWellFormed())} does not fit`
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
