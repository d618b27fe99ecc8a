import { type Problem, problemSchema } from '@tranche/api-schema'
import { AppError, type ErrorCode, errorCatalog } from '@tranche/errors'

/** REST answered with a problem. Its `code` is the problem's where this version knows it, else API_REFUSED. */
export class ApiProblemError extends AppError {
  override readonly name = 'ApiProblemError'
  /** HTTP status. */
  readonly status: number
  /** Undefined where the answer was no problem document: a proxy's page, say. */
  readonly problem: Problem | undefined
  /** What the server asks us to wait, in milliseconds; null when it said nothing. */
  readonly retryAfterMs: number | null

  constructor(attempt: string, response: { readonly status: number; readonly body: string; readonly retryAfter: string | null }) {
    const { status, body, retryAfter } = response
    const problem = problemOf(body)
    super(codeOf(problem), problem?.detail ?? `${attempt} was answered with ${status}: ${shortened(body)}`, {
      details: { attempt, status, ...(problem?.instance !== undefined && { instance: problem.instance }) },
      ...(problem === undefined && { hint: 'Look whether this is the address of the REST API of Tranche.' }),
    })
    this.status = status
    this.problem = problem
    this.retryAfterMs = millisecondsOf(retryAfter)
  }
}

function problemOf(body: string): Problem | undefined {
  try {
    return problemSchema.safeParse(JSON.parse(body)).data
  } catch {
    return undefined
  }
}

function codeOf(problem: Problem | undefined): ErrorCode {
  return problem !== undefined && Object.hasOwn(errorCatalog, problem.code) ? (problem.code as ErrorCode) : 'API_REFUSED'
}

const LONGEST_FOREIGN_TEXT = 200

function shortened(body: string): string {
  return body.trim().slice(0, LONGEST_FOREIGN_TEXT)
}

/** Only whole seconds are understood. */
function millisecondsOf(retryAfter: string | null): number | null {
  return retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : null
}
