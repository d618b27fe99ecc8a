import { AppError, isAppError } from '@tranche/errors'
import { describe, expect, it } from 'vitest'

describe('AppError', () => {
  it('takes its remedy from the catalog', () => {
    expect(new AppError('BATCH_SIZE_INVALID', 'steps[0].replicas is 120%').remedy).toBe('fixInput')
    expect(new AppError('WRITE_CONFLICT', 'changed').remedy).toBe('retry')
    expect(new AppError('INVARIANT_BROKEN', 'impossible').remedy).toBe('giveUp')
  })

  it('keeps message, details, hint and the error that caused it', () => {
    const cause = new Error('409')
    const error = new AppError('WRITE_CONFLICT', 'BatchRelease default/agent changed', { details: { seq: 4 }, hint: 'Try again.', cause })
    expect(error).toMatchObject({
      name: 'AppError',
      code: 'WRITE_CONFLICT',
      message: 'BatchRelease default/agent changed',
      hint: 'Try again.',
    })
    expect(error.details).toEqual({ seq: 4 })
    expect(error.cause).toBe(cause)
  })

  it('has no details, hint or cause unless given', () => {
    const error = new AppError('PORT_IN_USE', 'port 6443 is in use')
    expect([error.details, error.hint, error.cause]).toEqual([{}, undefined, undefined])
  })
})

describe('isAppError', () => {
  it.each([
    { title: 'an AppError', value: new AppError('API_DEADLINE', 'late'), want: true },
    { title: 'a subclass', value: new (class extends AppError {})('API_DEADLINE', 'late'), want: true },
    { title: 'a plain Error with a code', value: Object.assign(new Error('late'), { code: 'API_DEADLINE' }), want: false },
    { title: 'text', value: 'API_DEADLINE', want: false },
    { title: 'nothing', value: undefined, want: false },
  ])('is $want for $title', ({ value, want }) => {
    expect(isAppError(value)).toBe(want)
  })
})
