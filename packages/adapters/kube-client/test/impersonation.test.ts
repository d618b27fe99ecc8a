import { expect, it } from 'vitest'
import { type Impersonation, impersonationHeaders } from '../src/credentials/impersonation.ts'

it.each<[string, Impersonation, object]>([
  [
    'with groups and a uid',
    { user: 'jane', groups: ['a'], uid: '7' },
    { 'impersonate-user': 'jane', 'impersonate-group': ['a'], 'impersonate-uid': '7' },
  ],
  ['without groups', { user: 'jane', groups: [], uid: '7' }, { 'impersonate-user': 'jane', 'impersonate-uid': '7' }],
  ['without a uid', { user: 'jane', groups: ['a', 'b'] }, { 'impersonate-user': 'jane', 'impersonate-group': ['a', 'b'] }],
])('names a user %s, and nothing that they do not have', (_how, impersonation, want) => {
  expect(impersonationHeaders(impersonation)).toEqual(want)
})
