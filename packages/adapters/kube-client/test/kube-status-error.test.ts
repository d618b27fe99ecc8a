import { describe, expect, it } from 'vitest'
import {
  isAlreadyExists,
  isBadRequest,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isUnauthorized,
  KubeStatusError,
  statusErrorOf,
  toStatusError,
} from '../src/exchange/kube-status-error.ts'

const predicates = { isAlreadyExists, isBadRequest, isConflict, isExpired, isForbidden, isInvalid, isNotFound, isUnauthorized }

describe('an error response of the API server', () => {
  it.each([
    [400, 'BadRequest', ['isBadRequest']],
    [401, 'Unauthorized', ['isUnauthorized']],
    [403, 'Forbidden', ['isForbidden']],
    [404, 'NotFound', ['isNotFound']],
    [409, 'Conflict', ['isConflict']],
    [409, 'AlreadyExists', ['isAlreadyExists', 'isConflict']],
    [410, 'Expired', ['isExpired']],
    [422, 'Invalid', ['isInvalid']],
    [500, 'AlreadyExists', []],
  ])('%i %s matches only its own predicates', (status, reason, want) => {
    const error = new KubeStatusError({ attempt: 'GET /x', status, reason })
    expect(Object.entries(predicates).flatMap(([name, holds]) => (holds(error) ? [name] : []))).toEqual(want)
    for (const holds of Object.values(predicates)) expect(holds(Object.assign(new Error('another'), { status, reason }))).toBe(false)
  })

  it.each<[string, unknown, object]>([
    ['by its own code', { code: 409, reason: 'Conflict', message: 'm' }, { status: 409, reason: 'Conflict', serverMessage: 'm' }],
    ['by the status line where it has no code', { message: 'm' }, { status: 502, reason: '', serverMessage: 'm', causes: [] }],
    ['by the status line where its code is zero', { code: 0 }, { status: 502 }],
    ['by the status line where its code is no number', { code: '409' }, { status: 502 }],
    ['by the status line where it is null', null, { status: 502, serverMessage: '' }],
    ['by the status line where it is text', 'no', { status: 502, serverMessage: '' }],
    ['with the wait that its details ask for', { details: { retryAfterSeconds: 3 } }, { retryAfterMs: 3_000 }],
    ['without a wait where its details ask for none', { details: { retryAfterSeconds: 0 } }, { retryAfterMs: null }],
    ['without a wait that has passed', { details: { retryAfterSeconds: -1 } }, { retryAfterMs: null }],
  ])('is read %s', (_how, value, want) => {
    expect(statusErrorOf('GET /x', value, 502)).toMatchObject(want)
  })

  it.each<[string | undefined, number | null]>([
    ['2', 2_000],
    ['0.5', 500],
    ['', null],
    [undefined, null],
    ['Wed, 21 Oct 2026 07:28:00 GMT', null],
    ['-1', null],
  ])('asks by the header Retry-After %s to wait for %s ms', (header, want) => {
    expect(toStatusError('GET /x', 429, '{}', header).retryAfterMs).toBe(want)
  })

  it('prefers the header to the details', () => {
    expect(toStatusError('GET /x', 429, '{"details":{"retryAfterSeconds":9}}', '2').retryAfterMs).toBe(2_000)
  })

  it('shows the start of a body that is not JSON, trimmed', () => {
    expect(toStatusError('GET /x', 502, `\n  ${'x'.repeat(300)}  \n`).serverMessage).toBe(`${'x'.repeat(199)}…`)
  })
})
