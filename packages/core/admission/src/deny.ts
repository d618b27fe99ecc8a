import { MOST_FINDINGS, type Problem, problemBody, problemsText } from '@tranche/validation'
import type { Admission, DenyCause } from './admission.ts'

/** Maximum characters of the problems in a message. */
const LONGEST_MESSAGE = 8_000
/** Maximum number of causes: those of one check of a spec, and the few of the checks beside it. */
const MOST_CAUSES = MOST_FINDINGS + 10

/**
 * @param what subject and verdict, such as "Rollout node-agent cannot be released"
 * @param problems at least one; the message and the causes list as many as clients can use, and the message says how many it leaves out
 */
export function deny(what: string, problems: readonly Problem[]): Admission {
  const message = `${what}: ${problemsText(problems, LONGEST_MESSAGE)}`
  return { kind: 'deny', message, causes: problems.slice(0, MOST_CAUSES).map(causeOf) }
}

/** Prefixes that the API server uses for its own causes, whose messages do not include the field. */
const causeWords = {
  FieldValueInvalid: 'Invalid value',
  FieldValueRequired: 'Required value',
  FieldValueNotSupported: 'Unsupported value',
} as const

function causeOf(problem: Problem): DenyCause {
  const reason = causeReason(problem)
  return { reason, message: `${causeWords[reason]}: ${problemBody(problem)}`, field: problem.path }
}

function causeReason({ reason, value }: Problem): DenyCause['reason'] {
  if (reason === 'UnsupportedField') return 'FieldValueNotSupported'
  return value === undefined ? 'FieldValueRequired' : 'FieldValueInvalid'
}
