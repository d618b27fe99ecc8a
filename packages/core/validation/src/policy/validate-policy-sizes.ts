import { type Analysis, filledLength, type NodeRules, type ReleasePolicySpec } from '@tranche/api-schema'
import { type Problem, problemOf } from '../problems/problem.ts'

/** The parts of a policy whose number or length determines the cost of checking and using it. */
export type SizedTerms = Pick<ReleasePolicySpec, 'nodes' | 'failure' | 'drain' | 'analysis' | 'notify'>

/** Maximum entries of each list. */
const MOST_ORDERS = 20
const MOST_EXCLUDED = 20
const MOST_SPREADS = 10
const MOST_REASONS = 100
const MOST_CONSUMERS = 20
const MOST_ARGUMENTS = 50
const MOST_HEADERS = 20
const MOST_STEPS = 50
const MOST_EVENTS = 50
/** Maximum characters of all queries and conditions of a policy with arguments filled in: the text to parse and compile. */
const MOST_EXPRESSION_TEXT = 20_000
/** Maximum nesting of a query: each level costs the parser more than the one before. */
const DEEPEST_QUERY = 100

/**
 * Checks the sizes that the time of every other check depends on. When one is too large, callers must check no other rule:
 * a user who may write policies could otherwise stop the controller.
 */
export function policySizeProblems({ nodes, failure, drain, analysis = [], notify = [] }: SizedTerms): readonly Problem[] {
  return [
    ...nodeListProblems(nodes ?? {}),
    ...listProblems('spec.failure.ignoreReasons', failure?.ignoreReasons, MOST_REASONS),
    ...listProblems('spec.drain.consumers', drain?.consumers, MOST_CONSUMERS),
    ...analysis.flatMap((one, index) => [
      ...listProblems(`spec.analysis[${index}].args`, one.args, MOST_ARGUMENTS),
      ...listProblems(`spec.analysis[${index}].steps`, one.steps, MOST_STEPS),
      ...listProblems(`spec.analysis[${index}].prometheus.headers`, one.prometheus?.headers, MOST_HEADERS),
      ...listProblems(`spec.analysis[${index}].http.headers`, one.http?.headers, MOST_HEADERS),
    ]),
    ...notify.flatMap(({ webhook, events }, index) => [
      ...listProblems(`spec.notify[${index}].webhook.headers`, webhook?.headers, MOST_HEADERS),
      ...listProblems(`spec.notify[${index}].events`, events, MOST_EVENTS),
    ]),
    ...expressionProblems(analysis),
  ]
}

function nodeListProblems({ order, exclude, spread }: NodeRules): readonly Problem[] {
  return [
    ...listProblems('spec.nodes.order', order, MOST_ORDERS),
    ...listProblems('spec.nodes.exclude', exclude, MOST_EXCLUDED),
    ...listProblems('spec.nodes.spread', spread, MOST_SPREADS),
  ]
}

function listProblems(path: string, list: readonly unknown[] | undefined, most: number): readonly Problem[] {
  if (list === undefined || list.length <= most) return []
  const message = `the list has ${list.length} entries; the maximum is ${most}`
  return [problemOf('PolicySize', { path, value: `${list.length} entries`, message, fix: `keep ${most} entries or fewer` })]
}

function expressionProblems(analyses: readonly Analysis[]): readonly Problem[] {
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
