import type { Problem } from '@tranche/api-schema'
import { AppError, type ErrorCode, errorCatalog, isAppError } from '@tranche/errors'
import { hasZodFastifySchemaValidationErrors } from '@fastify/type-provider-zod'
import type { FastifyError, FastifyReply } from 'fastify'
import { type FieldProblem, fieldProblems, type SchemaIssue } from './field-problems.ts'

/** Media type of a problem. */
export const PROBLEM_TYPE = 'application/problem+json'

/** An error that says which fields of the request are wrong. */
export class FieldsInvalid extends AppError {
  override readonly name = 'FieldsInvalid'
  readonly problems: readonly FieldProblem[]

  constructor(problems: readonly FieldProblem[]) {
    super('REQUEST_INVALID', problems.map(({ path, fix }) => `${path}: ${fix}`).join('; '))
    this.problems = problems
  }
}

/**
 * Turns whatever was thrown into what the sender is told. Of what is not in the catalog nothing is told but that it was our fault.
 *
 * @param instance id of the request
 */
export function toProblem(error: unknown, instance: string): Problem {
  if (isAppError(error)) return problemOf(error.code, detailOf(error), { instance, ...problemsOf(error) })
  if (hasZodFastifySchemaValidationErrors(error)) return toProblem(fieldsOf(error as unknown as Validated), instance)
  const known = knownErrors[codeOf(error)]
  if (known !== undefined) return problemOf(known.code, known.detail ?? messageOf(error), { instance })
  const status = (error as { statusCode?: unknown } | null)?.statusCode
  if (typeof status === 'number' && status >= 400 && status < 500)
    return problemOf('REQUEST_INVALID', messageOf(error), { instance, status })
  return problemOf('INVARIANT_BROKEN', `The program met a state it rules out. The log has more under ${instance}.`, { instance })
}

/** Answers with a problem. */
export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.status === 401) void reply.header('www-authenticate', 'Bearer')
  if ((problem.status === 503 || problem.status === 429) && !reply.hasHeader('retry-after')) void reply.header('retry-after', '1')
  // What the framework itself refuses never comes to the plugin that sets the others.
  return reply
    .status(problem.status)
    .header('x-content-type-options', 'nosniff')
    .type(PROBLEM_TYPE)
    .serializer(JSON.stringify)
    .send(problem)
}

/** @returns a problem; `type` leads, on the same server, to what is known of the code */
export function problemOf(
  code: ErrorCode,
  detail: string,
  more: { readonly instance: string; readonly status?: number; readonly problems?: readonly FieldProblem[] },
): Problem {
  const { httpStatus, summary } = errorCatalog[code]
  return { type: `/errors/${code}`, title: summary, status: httpStatus, code, detail, ...more }
}

/** @returns the error of whoever asks what only the watches can tell, before their first lists have arrived */
export function notSeenYet(): AppError {
  return new AppError('NOT_READY', 'the cluster has not been seen yet', { hint: 'Try again in a moment.' })
}

function detailOf({ message, hint }: AppError): string {
  return hint === undefined ? message : `${message}${/[.!?]$/.test(message) ? '' : '.'} ${hint}`
}

/** Fields that an error names: all that a schema refuses, or the one wrong member of an action. */
function problemsOf(error: AppError): { readonly problems?: readonly FieldProblem[] } {
  if (error instanceof FieldsInvalid) return { problems: error.problems }
  const { path } = error.details
  return typeof path === 'string' ? { problems: [{ path: `body.${path}`, fix: error.hint ?? error.message }] } : {}
}

/** What Fastify and its plugins throw, by their codes. */
const knownErrors: Readonly<Record<string, { readonly code: ErrorCode; readonly detail?: string }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'BODY_TOO_LARGE' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'MEDIA_TYPE_UNSUPPORTED',
    detail: 'The Content-Type of the body is not taken; send Content-Type: application/json.',
  },
  FST_ERR_CTP_INVALID_JSON_BODY: { code: 'REQUEST_INVALID', detail: 'The body is not JSON.' },
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: 'REQUEST_INVALID', detail: 'The body is empty; send {} or no Content-Type.' },
  FST_ERR_REOPENED_CLOSE_SERVER: { code: 'NOT_READY', detail: 'The server stops.' },
  FST_UNDER_PRESSURE: { code: 'NOT_READY', detail: 'The server has more work than it can do at the moment.' },
}

function codeOf(error: unknown): string {
  const code = (error as Partial<FastifyError> | null)?.code
  return typeof code === 'string' ? code : ''
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

interface Validated {
  readonly validation: readonly SchemaIssue[]
  readonly validationContext?: string | undefined
}

const contexts: Readonly<Record<string, string>> = { params: 'path', querystring: 'query', headers: 'header', body: 'body' }

function fieldsOf({ validation, validationContext = 'body' }: Validated): FieldsInvalid {
  return new FieldsInvalid(fieldProblems(contexts[validationContext] ?? validationContext, validation))
}
