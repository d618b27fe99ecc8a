import { type Problem, problemBody, problemText } from '@tranche/validation'
import type { Admission, DenyCause } from './admission.ts'

/**
 * @param what subject and verdict, such as "Rollout node-agent cannot be released"
 * @param problems at least one; the message and the causes list all of them
 */
export function deny(what: string, problems: readonly Problem[]): Admission {
  return { kind: 'deny', message: `${what}: ${problems.map(problemText).join('; and ')}`, causes: problems.map(causeOf) }
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
