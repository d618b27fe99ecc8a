import { ApiProblemError } from '@tranche/api-client'
import type { ActionBody } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { expect, it } from 'vitest'
import { errorLine } from '../src/release-client/error-line.ts'
import { inOptions } from '../src/release-client/in-options.ts'

const refusal = (path: string | undefined, message: string, hint: string): AppError =>
  new AppError('MOVED_ON', message, { hint, ...(path !== undefined && { details: { path } }) })

const overRest = (path: string, detail: string): ApiProblemError => {
  const problem = {
    type: '/errors/MOVED_ON',
    title: '',
    status: 409,
    code: 'MOVED_ON',
    detail,
    problems: [{ path: `body.${path}`, fix: '' }],
  }
  return new ApiProblemError('POST /', { status: 409, body: JSON.stringify(problem), retryAfter: null })
}

interface Case {
  readonly title: string
  readonly error: unknown
  readonly said: ActionBody
  readonly want: string
}

it.each<Case>([
  {
    title: 'the option and its value, where it was typed',
    error: refusal('revision', 'the action is meant for revision h1, and no release is under way', 'Look.'),
    said: { revision: 'h1' },
    want: 'MOVED_ON: --revision h1: the action is meant for revision h1, and no release is under way. Look.',
  },
  {
    title: 'the same over REST',
    error: overRest('toRevision', 'there is no revision 9 in the history. Name one of 1.'),
    said: { toRevision: '9' },
    want: 'MOVED_ON: --to-revision 9: there is no revision 9 in the history. Name one of 1.',
  },
  {
    title: 'no option that was not typed',
    error: refusal('expectedStep', 'the action is meant for step 2, and the release is at step 3', 'Look.'),
    said: {},
    want: 'MOVED_ON: the action is meant for step 2, and the release is at step 3. Look.',
  },
  {
    title: 'an option that would help',
    error: refusal('toRevision', 'every revision is held', 'Name one with toRevision, or say expectedStep.'),
    said: {},
    want: 'MOVED_ON: every revision is held. Name one with --to-revision, or say --expected-step.',
  },
  {
    title: 'no option, if the error names no member',
    error: refusal(undefined, 'no release is under way', 'Wait.'),
    said: { revision: 'h1' },
    want: 'MOVED_ON: no release is under way. Wait.',
  },
  { title: 'no option, for an error that is not a refusal', error: new TypeError('x'), said: {}, want: 'unexpected error: x' },
])('names $title', ({ error, said, want }) => {
  expect(errorLine(inOptions(error, said))).toBe(want)
})
