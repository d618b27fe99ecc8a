import { valueIn } from '@tranche/kube-types'
import type { ProblemDetails } from '@tranche/api-schema'
import { AppError, type ErrorCode, errorCatalog, isAppError } from '@tranche/errors'
import type { FastifyError, FastifyReply } from 'fastify'
import { SchemaViolation } from './compile-validator.ts'
import { type FieldProblem, fieldProblems } from './field-problems.ts'

/** Media type of problem details (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json'

/** REQUEST_INVALID with the invalid fields of the request. */
export class FieldsInvalid extends AppError {
  override readonly name = 'FieldsInvalid'
  readonly problems: readonly FieldProblem[]

  constructor(problems: readonly FieldProblem[]) {
    super('REQUEST_INVALID', problems.map(({ path, fix }) => `${path}: ${fix}`).join('; '))
    this.problems = problems
  }
}

/**
 * Converts a thrown value to problem details. Unknown errors become INVARIANT_BROKEN without their message.
 *
 * @param instance request id
 */
export function toProblem(error: unknown, instance: string): ProblemDetails {
  if (isAppError(error)) return problemDetailsOf(error.code, detailOf(error), { instance, ...problemsOf(error) })
  if (error instanceof SchemaViolation) return toProblem(fieldsOf(error), instance)
  const known = valueIn(knownErrors, codeOf(error))
  if (known !== undefined) return problemDetailsOf(known.code, known.detail ?? messageOf(error), { instance })
  const status = (error as { statusCode?: unknown } | null)?.statusCode
  if (typeof status === 'number' && status >= 400 && status < 500)
    return problemDetailsOf('REQUEST_INVALID', messageOf(error), { instance, status })
  return problemDetailsOf('INVARIANT_BROKEN', `Unexpected internal error. The log has details under request id ${instance}.`, { instance })
}

/** Sends problem details, with `www-authenticate` for 401 and `retry-after` for 429 and 503. */
export function sendProblem(reply: FastifyReply, problem: ProblemDetails): FastifyReply {
  if (problem.status === 401) void reply.header('www-authenticate', 'Bearer')
  if ((problem.status === 503 || problem.status === 429) && !reply.hasHeader('retry-after')) void reply.header('retry-after', '1')
  // Requests that Fastify itself refuses never reach helmet, which sets this header for all others.
  return reply
    .status(problem.status)
    .header('x-content-type-options', 'nosniff')
    .type(PROBLEM_TYPE)
    .serializer(JSON.stringify)
    .send(problem)
}

/** @returns problem details; `type` is a path on the same server that explains the code */
export function problemDetailsOf(
  code: ErrorCode,
  detail: string,
  more: { readonly instance: string; readonly status?: number; readonly problems?: readonly FieldProblem[] },
): ProblemDetails {
  const { httpStatus, summary } = errorCatalog[code]
  return { type: `/errors/${code}`, title: summary, status: httpStatus, code, detail, ...more }
}

/** @returns the error for reads before the initial lists have arrived */
export function notSeenYet(): AppError {
  return new AppError('NOT_READY', 'the initial lists from the API server have not arrived yet', { hint: 'Try again in a moment.' })
}

function detailOf({ message, hint }: AppError): string {
  return hint === undefined ? message : `${message}${/[.!?]$/.test(message) ? '' : '.'} ${hint}`
}

/** @returns all fields that violate the schema, or the one invalid field of an action */
function problemsOf(error: AppError): { readonly problems?: readonly FieldProblem[] } {
  if (error instanceof FieldsInvalid) return { problems: error.problems }
  const { path } = error.details
  return typeof path === 'string' ? { problems: [{ path: `body.${path}`, fix: error.hint ?? error.message }] } : {}
}

/** Errors of Fastify and its plugins, by their codes. */
const knownErrors: Readonly<Record<string, { readonly code: ErrorCode; readonly detail?: string }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'BODY_TOO_LARGE' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'MEDIA_TYPE_UNSUPPORTED',
    detail: 'The Content-Type is not supported; send Content-Type: application/json.',
  },
  FST_ERR_CTP_INVALID_JSON_BODY: { code: 'REQUEST_INVALID', detail: 'The body is not JSON.' },
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: 'REQUEST_INVALID', detail: 'The body is empty; send {} or no Content-Type.' },
  FST_ERR_REOPENED_CLOSE_SERVER: { code: 'NOT_READY', detail: 'The server is shutting down.' },
  FST_UNDER_PRESSURE: { code: 'NOT_READY', detail: 'The server is overloaded.' },
}

function codeOf(error: unknown): string {
  const code = (error as Partial<FastifyError> | null)?.code
  return typeof code === 'string' ? code : ''
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const contexts: Readonly<Record<string, string>> = { params: 'path', querystring: 'query', headers: 'header', body: 'body' }

function fieldsOf({ issues, validationContext = 'body' }: SchemaViolation): FieldsInvalid {
  return new FieldsInvalid(fieldProblems(valueIn(contexts, validationContext) ?? validationContext, issues))
}
