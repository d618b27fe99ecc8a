import { type ProblemDetails, problemSchema } from '@tranche/api-schema'
import { AppError, type ErrorCode, errorCatalog } from '@tranche/errors'

/** The REST API returned a problem. Its `code` is the problem's if this version knows it, else API_REFUSED. */
export class ApiProblemError extends AppError {
  override readonly name = 'ApiProblemError'
  /** HTTP status. */
  readonly status: number
  /** Undefined if the response was not a problem document, such as a proxy's page. */
  readonly problem: ProblemDetails | undefined
  /** Whether the response was a Status of Kubernetes: the server is an API server, not the REST API. */
  readonly isKubeStatus: boolean
  /** Wait that the server asks for, in milliseconds; null if it did not ask. */
  readonly retryAfterMs: number | null

  constructor(attempt: string, response: { readonly status: number; readonly body: string; readonly retryAfter: string | null }) {
    const { status, body, retryAfter } = response
    const problem = problemOf(body)
    super(codeOf(problem), problem?.detail ?? `${attempt} was answered with ${status}: ${shortened(body)}`, {
      details: { attempt, status, ...(problem?.instance !== undefined && { instance: problem.instance }) },
      ...(problem === undefined && { hint: 'Check that this is the address of the Tranche REST API.' }),
    })
    this.status = status
    this.problem = problem
    this.isKubeStatus = isStatus(body)
    this.retryAfterMs = millisecondsOf(retryAfter)
  }
}

function problemOf(body: string): ProblemDetails | undefined {
  try {
    return problemSchema.safeParse(JSON.parse(body)).data
  } catch {
    return undefined
  }
}

function isStatus(body: string): boolean {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status'
  } catch {
    return false
  }
}

function codeOf(problem: ProblemDetails | undefined): ErrorCode {
  return problem !== undefined && Object.hasOwn(errorCatalog, problem.code) ? (problem.code as ErrorCode) : 'API_REFUSED'
}

const LONGEST_FOREIGN_TEXT = 200

function shortened(body: string): string {
  return body.trim().slice(0, LONGEST_FOREIGN_TEXT)
}

/** Reads whole seconds only. */
function millisecondsOf(retryAfter: string | null): number | null {
  return retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : null
}
