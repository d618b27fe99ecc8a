import { ApiProblemError } from '@tranche/api-client'
import type { ActionBody } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { expect, it } from 'vitest'
import { errorLine } from '../src/release-client/error-line.ts'
import { inOptions } from '../src/release-client/in-options.ts'

const refusal = (path: string | undefined, message: string, hint: string): AppError =>
  new AppError('MOVED_ON', message, { hint, ...(path !== undefined && { details: { path } }) })

const overRest = (path: string, detail: string, code = 'MOVED_ON'): ApiProblemError => {
  const problem = {
    type: `/errors/${code}`,
    title: '',
    status: 409,
    code,
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

const cases: readonly Case[] = [
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
    title: 'an option that is missing',
    error: new AppError('ACTION_INVALID', 'jump needs step', { details: { path: 'step' }, hint: 'Add step.' }),
    said: {},
    want: 'ACTION_INVALID: --step: jump needs step. Add step.',
  },
  {
    title: 'an option that is missing, over REST',
    error: overRest('expectedStep', 'approve needs expectedStep. Add it.', 'ACTION_INVALID'),
    said: {},
    want: 'ACTION_INVALID: --expected-step: approve needs expectedStep. Add it.',
  },
  {
    title: 'no option for a member whose name only the text contains',
    error: refusal(undefined, 'every revision is held', 'Name one with toRevision.'),
    said: { toRevision: '9' },
    want: 'MOVED_ON: every revision is held. Name one with toRevision.',
  },
  {
    title: 'no option, if the error names no member',
    error: refusal(undefined, 'no release is under way', 'Wait.'),
    said: { revision: 'h1' },
    want: 'MOVED_ON: no release is under way. Wait.',
  },
  { title: 'no option, for an error that is not a refusal', error: new TypeError('x'), said: {}, want: 'unexpected error: x' },
]

it.each(cases)('names $title', ({ error, said, want }) => {
  expect(errorLine(inOptions(error, said))).toBe(want)
})

it.each(cases)('names $title, whatever the message says', ({ error, said, want }) => {
  if (!(error instanceof AppError)) return
  const { message } = error
  const other = message.endsWith('.') ? 'x.' : 'x'
  error.message = other
  expect(errorLine(inOptions(error, said))).toBe(want.replace(message, other))
  error.message = message
})
