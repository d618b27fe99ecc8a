import { type Analysis, filledLength } from '@tranche/api-schema'
import { type Problem, problemOf } from '../problems/problem.ts'

/** Maximum characters of all queries and conditions of a policy with arguments filled in: the text to parse and compile. */
const MOST_EXPRESSION_TEXT = 20_000
/** Maximum nesting of a query: each level costs the parser more than the one before. */
const DEEPEST_QUERY = 100

/**
 * Checks the sizes of queries and conditions that the time of every other check depends on, beside those that the definition states.
 * When one is too large, callers must check no other rule: a user who may write policies could otherwise stop the controller.
 */
export function expressionSizeProblems(analyses: readonly Analysis[]): readonly Problem[] {
  const deep = analyses.flatMap(({ prometheus }, index) => nestingProblems(`spec.analysis[${index}].prometheus.query`, prometheus?.query))
  const length = analyses.reduce((sum, analysis) => sum + expressionLength(analysis), 0)
  if (length <= MOST_EXPRESSION_TEXT) return deep
  const message = `queries and conditions have ${length} characters in total with arguments filled in; the maximum is ${MOST_EXPRESSION_TEXT}`
  const fix = 'shorten the queries, conditions and arguments, or split the policy'
  return [...deep, problemOf('PolicySize', { path: 'spec.analysis', value: `${length} characters`, message, fix })]
}

function expressionLength({ prometheus, successCondition = '', failureCondition = '', args = [] }: Analysis): number {
  const values = Object.fromEntries(args.map(({ name, value }) => [name, value]))
  const query = prometheus === undefined ? 0 : filledLength(prometheus.query, values)
  return query + successCondition.length + failureCondition.length
}

function nestingProblems(path: string, query: string | undefined): readonly Problem[] {
  if (query === undefined || nestingOf(query) <= DEEPEST_QUERY) return []
  const message = `it nests more than ${DEEPEST_QUERY} brackets`
  return [
    problemOf('PolicySize', { path, value: query, message, fix: 'nest less, or move a part of the query to a Prometheus recording rule' }),
  ]
}

/** Counts brackets in string literals too, which overcounts only unrealistic queries. */
function nestingOf(query: string): number {
  let depth = 0
  let deepest = 0
  for (const letter of query) {
    if (letter === '(' || letter === '[' || letter === '{') deepest = Math.max(deepest, ++depth)
    else if (letter === ')' || letter === ']' || letter === '}') depth--
  }
  return deepest
}
