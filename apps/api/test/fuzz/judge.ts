import { problemSchema, recordedActionSchema, streamMessageSchema, type ActionAnswer } from '@tranche/api-schema'
import { type ErrorCode, errorCatalog } from '@tranche/errors'
import { type KubeObject, RECORDED_ACTIONS_ANNOTATION, rolloutAnnotations } from '@tranche/kube-types'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { FuzzRequest } from './requests.ts'
import type { Answer } from './send.ts'
import { imageOf, type Store } from './stage.ts'

/** A request with its outcome. */
export interface Exchange {
  readonly request: FuzzRequest
  /** Null if the connection was closed without an answer; `hung` if there was no answer. */
  readonly answer: Answer | null | 'hung'
  /** CPU time of the whole process during the request, in milliseconds. */
  readonly cpuMs: number
  readonly before: Store
  readonly after: Store
}

/** @returns validator of an answer by the OpenAPI document; undefined if the answer is not described, or not JSON */
export type AnswerSchemas = (operationId: string, status: string, mediaType: string) => ValidateFunction | 'text' | undefined

/** Maximum CPU time of a request, in milliseconds; other requests wait for it. */
export const MOST_CPU_MS = 1_500
const PROBLEM_TYPE = 'application/problem+json'

/** Expected codes of server errors, by operation: forecasts that take too long are aborted. */
const meant: Readonly<Record<string, readonly string[]>> = { planRollout: ['NOT_READY'] }

/** @returns findings as sentences; empty if the outcome is correct */
export function judge(exchange: Exchange, schemas: AnswerSchemas): readonly string[] {
  const { request, answer, cpuMs } = exchange
  const slow = cpuMs > MOST_CPU_MS ? [`it cost ${Math.round(cpuMs)} ms of processor time`] : []
  if (answer === 'hung') return ['it is not answered']
  if (Object.keys(Object.prototype).length > 0) return ['it has given every object a member']
  // The server may close the connection on a body that is larger than its limit.
  if (answer === null)
    return [...slow, ...((request.body?.byteLength ?? 0) > 60_000 ? [] : ['the connection was closed without an answer'])]
  const findings = answer.status >= 400 ? problemsOf(request, answer) : successOf(request, answer, schemas)
  return [...slow, ...findings, ...headersOf(answer), ...writesOf(exchange, answer)]
}

function problemsOf({ operation, method }: FuzzRequest, { status, headers, text }: Answer): readonly string[] {
  if (method === 'HEAD') return status >= 500 ? [`it was answered with ${status}`] : []
  const type = headers['content-type']?.split(';')[0]
  if (type !== PROBLEM_TYPE) return [`${status} is answered as ${type}, not as ${PROBLEM_TYPE}`]
  const read = problemSchema.safeParse(parse(text))
  if (!read.success) return [`${status} is no problem: ${text.slice(0, 300)}`]
  const problem = read.data
  const wrong: string[] = []
  if (status >= 500 && !meant[operation.id]?.includes(problem.code))
    wrong.push(`it was answered with ${status} ${problem.code}: ${problem.detail}`)
  if (!Object.hasOwn(errorCatalog, problem.code)) wrong.push(`the catalog of errors has no ${problem.code}`)
  else if (errorCatalog[problem.code as ErrorCode].httpStatus !== status && problem.code !== 'REQUEST_INVALID')
    wrong.push(`${problem.code} is answered with ${status}`)
  if (problem.status !== status) wrong.push(`the problem says ${problem.status}, the status ${status}`)
  if (problem.type !== `/errors/${problem.code}`) wrong.push(`${problem.type} does not lead to ${problem.code}`)
  if (problem.instance === undefined || problem.instance === '') wrong.push('the problem has no instance')
  if (problem.detail === '' || /\n\s+at |node_modules|file:\/\//.test(problem.detail))
    wrong.push(`the detail is not for clients: ${problem.detail}`)
  if (problem.problems?.some(({ path, fix }) => path === '' || fix === '')) wrong.push('an invalid field has no path or fix')
  return wrong
}

function successOf({ operation, method, target, sender, signed }: FuzzRequest, answer: Answer, schemas: AnswerSchemas): readonly string[] {
  const { status, headers, text } = answer
  const isKnown = sender === 'admin' || sender === 'session' || sender === 'eve' || (sender === 'page' && method === 'GET')
  if (!isKnown && !operation.isOpen && method !== 'HEAD') return [`${sender} was answered with ${status}`]
  if (operation.id === 'sendToHook' && signed !== 'well') return ['a message that is not signed was taken']
  if (method === 'HEAD' || method === 'OPTIONS') return []
  const type = headers['content-type']?.split(';')[0] ?? ''
  const schema = schemas(operation.id, String(status), type)
  // An empty object name turns the path into that of the list.
  if (/\/\/|\/(\?|$)/.test(target)) return []
  if (schema === undefined) return status === 204 || status === 302 ? [] : [`${status} as "${type}" is not described`]
  if (type === 'text/event-stream') return eventsOf(text)
  if (schema === 'text') return []
  return schema(parse(text)) ? [] : [`the answer is not as described: ${JSON.stringify(schema.errors?.slice(0, 3))}`]
}

function eventsOf(text: string): readonly string[] {
  const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, line = '']) => parse(line))
  return data.flatMap((message) =>
    streamMessageSchema.safeParse(message).success ? [] : [`an event is no message: ${JSON.stringify(message)}`],
  )
}

function headersOf({ headers }: Answer): readonly string[] {
  const { connection, 'x-content-type-options': sniffing, 'access-control-allow-origin': cors, 'x-injected': injected } = headers
  return [
    // Invalid HTTP and oversized headers are answered before other headers are set.
    ...(sniffing === 'nosniff' || connection === 'close' ? [] : ['the answer has no X-Content-Type-Options']),
    ...(cors === undefined ? [] : ['pages of other origins may read the answer']),
    ...(injected === undefined ? [] : ['a header was put into the answer from outside']),
  ]
}

function writesOf({ request, before, after }: Exchange, answer: Answer): readonly string[] {
  const isChanged = imageOf(before) !== imageOf(after)
  const wrong = [...spoiltIn(after.rollout), ...spoiltIn(after.daemonSet)]
  if (answer.status >= 300) return isChanged ? [...wrong, `${answer.status} was answered, and something was written`] : wrong
  if (request.method !== 'POST') return isChanged ? [...wrong, `${request.method} has written something`] : wrong
  const { id, repeated, message } = (parse(answer.text) ?? {}) as Partial<ActionAnswer>
  if (id === undefined) return isChanged ? [...wrong, 'something was written, and no action was answered'] : wrong
  if (repeated === true || message?.includes('dryRun') === true) return isChanged ? [...wrong, 'it was repeated, and written again'] : wrong
  const isRecorded = [...recordsOf(after.rollout), ...recordsOf(after.daemonSet)].some((record) => record.id === id)
  return isRecorded ? wrong : [...wrong, `the action ${id} is on no record`]
}

function spoiltIn({ kind, metadata: { annotations = {} } }: KubeObject): readonly string[] {
  const record = annotations[RECORDED_ACTIONS_ANNOTATION]
  const action = annotations[rolloutAnnotations.action]
  return [
    ...(record !== undefined && !recordedActionSchema.array().max(16).safeParse(parse(record)).success
      ? [`the record on the ${kind} is spoilt: ${record.slice(0, 300)}`]
      : []),
    ...(record !== undefined && Buffer.byteLength(record) > 16_384
      ? [`the record on the ${kind} has ${Buffer.byteLength(record)} bytes`]
      : []),
    ...(action !== undefined && typeof (parse(action) as { id?: unknown } | null)?.id !== 'string'
      ? [`the action on the ${kind} is spoilt`]
      : []),
  ]
}

function recordsOf({ metadata: { annotations = {} } }: KubeObject): readonly { readonly id: string }[] {
  return (parse(annotations[RECORDED_ACTIONS_ANNOTATION] ?? '[]') ?? []) as readonly { readonly id: string }[]
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
