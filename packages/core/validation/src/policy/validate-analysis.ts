import { type Analysis, durationMs, fillTemplate, sizeLimits } from '@tranche/api-schema'
import { isEntryName } from '../fields/names.ts'
import { findingsOfEach } from '../problems/bounded.ts'
import { type Problem, problemOf } from '../problems/problem.ts'
import { MAX_STEPS } from '../fields/validate-steps.ts'
import { analysisArguments } from './arguments.ts'
import { compileCondition } from './condition.ts'
import { queryFault } from './query.ts'
import { headerProblems, templateProblems, urlProblems } from './validate-request.ts'
import { durationProblems, numberProblems, repeated, textProblems } from './validate-values.ts'

/** Maximum characters of a query, condition or argument. */
const LONGEST_TEXT = sizeLimits.expression
/** Maximum characters of a request body. */
const LONGEST_BODY = sizeLimits.body
/** Maximum points that Prometheus returns for one series. */
const MOST_POINTS = 11_000

/** Checks the analyses of a policy: sources, arguments, conditions and timing. */
export function validateAnalyses(analyses: readonly Analysis[]): readonly Problem[] {
  const twice = repeated(analyses.map(({ name }) => name))
  return findingsOfEach(analyses, (analysis, index) => {
    const path = `spec.analysis[${index}]`
    return [
      ...(isEntryName(analysis.name) ? [] : [problemOf('AnalysisName', { path: `${path}.name`, value: analysis.name })]),
      ...(twice.includes(index)
        ? [problemOf('AnalysisName', { path: `${path}.name`, value: analysis.name, message: 'another analysis has this name' })]
        : []),
      ...argumentProblems(path, analysis),
      ...sourceProblems(path, analysis),
      ...conditionProblems(path, analysis),
      ...stepProblems(path, analysis),
      ...pacing(path, analysis),
    ]
  })
}

function argumentProblems(path: string, { args = [] }: Analysis): readonly Problem[] {
  const names = args.map(({ name }) => name)
  const twice = repeated(names)
  return findingsOfEach(args, ({ name, value }, index) => {
    const at = `${path}.args[${index}]`
    const isTaken = twice.includes(index) || analysisArguments.some((own) => own === name)
    const isName = /^[A-Za-z]\w{0,62}$/.test(name)
    return [
      ...(isName ? [] : [problemOf('AnalysisArgument', { path: `${at}.name`, value: name })]),
      ...(isTaken ? [problemOf('AnalysisArgument', { path: `${at}.name`, value: name, message: 'another argument has this name' })] : []),
      ...(value.length > LONGEST_TEXT ? textProblems(`${at}.value`, value, LONGEST_TEXT) : []),
    ]
  })
}

function sourceProblems(path: string, analysis: Analysis): readonly Problem[] {
  const { prometheus, http } = analysis
  const own = [
    ...(prometheus === undefined ? [] : prometheusProblems(`${path}.prometheus`, prometheus, analysis)),
    ...(http === undefined ? [] : httpProblems(`${path}.http`, http, analysis)),
  ]
  if (prometheus === undefined && http === undefined) {
    return [problemOf('AnalysisSource', { path: `${path}.prometheus`, value: undefined, fix: 'add prometheus or http' })]
  }
  return prometheus === undefined || http === undefined
    ? own
    : [problemOf('AnalysisSource', { path: `${path}.http`, value: { url: http.url } }), ...own]
}

function prometheusProblems(path: string, prometheus: NonNullable<Analysis['prometheus']>, analysis: Analysis): readonly Problem[] {
  const { address, query, range, headers } = prometheus
  return [
    ...addressProblems(`${path}.address`, address),
    ...queryProblems(`${path}.query`, query, analysis),
    ...durationProblems(`${path}.range`, range),
    ...pointProblems(`${path}.step`, prometheus),
    ...headerProblems(`${path}.headers`, headers, namesOf(analysis)),
  ]
}

function addressProblems(path: string, value: string): readonly Problem[] {
  const problems = urlProblems(path, value, [])
  if (problems.length > 0) return problems
  if (value.includes('?'))
    return [
      problemOf('PolicyUrl', { path, value, message: 'Tranche sets the query of the URL itself', fix: 'remove everything from ? on' }),
    ]
  if (!/\/api\/v1\b/.test(value)) return []
  return [problemOf('PolicyUrl', { path, value, message: 'Tranche appends /api/v1 itself', fix: 'remove /api/v1 and everything after it' })]
}

function queryProblems(path: string, value: string, analysis: Analysis): readonly Problem[] {
  const wrong = [...textProblems(path, value, LONGEST_TEXT), ...templateProblems(path, value, namesOf(analysis))]
  if (wrong.length > 0) return wrong
  const filled = fillTemplate(value, sampleValues(analysis))
  const fault = queryFault(filled)
  if (fault === null) return []
  return [problemOf('AnalysisQuery', { path, value, message: filled === value ? fault : `after its arguments are filled in, ${fault}` })]
}

/** Values of arguments for checking a query: the value in the policy, or a sample. */
function sampleValues({ args = [] }: Analysis): Readonly<Record<string, string>> {
  return {
    ...Object.fromEntries(args.map(({ name, value }) => [name, value])),
    ...Object.fromEntries(analysisArguments.map((name) => [name, name === 'stepIndex' ? '1' : name])),
  }
}

function namesOf({ args = [] }: Analysis): readonly string[] {
  return [...analysisArguments, ...args.map(({ name }) => name)]
}

function pointProblems(path: string, { range, step }: NonNullable<Analysis['prometheus']>): readonly Problem[] {
  if (step === undefined) return []
  if (range === undefined) {
    return [problemOf('AnalysisPoints', { path, value: step, message: 'step needs a range', fix: 'add range, or remove it' })]
  }
  const wrong = durationProblems(path, step)
  const points = durationMs(range) / durationMs(step)
  if (wrong.length > 0 || Number.isNaN(points) || (points >= 1 && points <= MOST_POINTS)) return wrong
  const message = `a range of ${range} has ${points < 1 ? 'no' : Math.floor(points).toLocaleString('en-US')} points at this interval`
  return [problemOf('AnalysisPoints', { path, value: step, message })]
}

function httpProblems(
  path: string,
  { url, method = 'GET', headers, body }: NonNullable<Analysis['http']>,
  analysis: Analysis,
): readonly Problem[] {
  const names = namesOf(analysis)
  return [
    ...urlProblems(`${path}.url`, url, names),
    ...headerProblems(`${path}.headers`, headers, names),
    ...(body === undefined ? [] : bodyProblems(`${path}.body`, body, names)),
    ...(body !== undefined && method === 'GET' ? [problemOf('AnalysisBody', { path: `${path}.body`, value: body })] : []),
  ]
}

function bodyProblems(path: string, body: string, names: readonly string[]): readonly Problem[] {
  return [...(body.length > LONGEST_BODY ? textProblems(path, body, LONGEST_BODY) : []), ...templateProblems(path, body, names)]
}

function conditionProblems(path: string, analysis: Analysis): readonly Problem[] {
  const { successCondition, failureCondition, http } = analysis
  if (successCondition === undefined && failureCondition === undefined) {
    const message = 'an analysis without a condition can neither pass nor fail'
    return [
      problemOf('AnalysisCondition', {
        path: `${path}.successCondition`,
        value: undefined,
        message,
        fix: 'add successCondition or failureCondition',
      }),
    ]
  }
  const names = { source: http === undefined ? 'prometheus' : 'http', args: namesOf(analysis) } as const
  return Object.entries({ successCondition, failureCondition }).flatMap(([field, value]) => {
    if (value === undefined) return []
    const long = textProblems(`${path}.${field}`, value, LONGEST_TEXT)
    if (long.length > 0) return long
    const compiled = compileCondition(value, names)
    return compiled.ok
      ? []
      : [
          problemOf('AnalysisCondition', {
            path: `${path}.${field}`,
            value,
            message: `the condition is invalid: ${placed(compiled.error)}`,
          }),
        ]
  })
}

/** One line with the error and its position; the value is shown beside it. */
function placed(error: string): string {
  const [first = ''] = error.split('\n')
  const [, line, column, what] = /ERROR: <input>:(\d+):(\d+): (.*)$/.exec(first) ?? []
  return what === undefined ? first : `${what}, at ${line === '1' ? '' : `line ${line}, `}character ${column}`
}

function stepProblems(path: string, { steps, background }: Analysis): readonly Problem[] {
  if (steps === undefined) return []
  const at = `${path}.steps`
  if (background === true) {
    return [
      problemOf('AnalysisSteps', {
        path: at,
        value: steps,
        message: 'a background analysis runs in all steps',
        fix: 'remove one of the two',
      }),
    ]
  }
  if (steps.length === 0)
    return [
      problemOf('AnalysisSteps', {
        path: at,
        value: steps,
        message: 'the list is empty, so the analysis would never run',
        fix: 'list steps, or remove it',
      }),
    ]
  const twice = repeated(steps)
  return steps.flatMap((step, index) => {
    const isStep = Number.isInteger(step) && step >= 1 && step <= MAX_STEPS
    const message = isStep ? 'the step is listed twice' : `steps are numbered from 1 to at most ${MAX_STEPS}`
    return isStep && !twice.includes(index) ? [] : [problemOf('AnalysisSteps', { path: `${at}[${index}]`, value: step, message })]
  })
}

function pacing(path: string, analysis: Analysis): readonly Problem[] {
  const { background = false, failureLimit } = analysis
  const count = analysis.count ?? (background ? undefined : 1)
  return [
    ...durationProblems(`${path}.initialDelay`, analysis.initialDelay),
    ...durationProblems(`${path}.interval`, analysis.interval),
    ...durationProblems(`${path}.timeout`, analysis.timeout),
    ...numberProblems(`${path}.count`, analysis.count),
    ...numberProblems(`${path}.failureLimit`, failureLimit),
    ...numberProblems(`${path}.inconclusiveLimit`, analysis.inconclusiveLimit),
    ...numberProblems(`${path}.consecutiveErrorLimit`, analysis.consecutiveErrorLimit),
    ...(count !== undefined && failureLimit !== undefined && failureLimit >= count && count >= 1
      ? [
          problemOf('AnalysisLimit', {
            path: `${path}.failureLimit`,
            value: failureLimit,
            message: `the limit is not below ${measurements(count)}, so the analysis can never fail`,
          }),
        ]
      : []),
  ]
}

function measurements(count: number): string {
  return count === 1 ? 'one measurement' : `${count} measurements`
}
