import { waitText } from '@tranche/api-schema'
import { expect, it } from 'vitest'

it.each([
  ['has its start', 'NotAvailable', 'T1', 'why (since T1)'],
  ['does not mix its start with those of the nodes that checks keep', 'Draining', 'T1', 'why (waiting only for such nodes since T1)'],
  ['is plain where its start is unknown', 'Draining', undefined, 'why'],
])('the text of a wait %s', (_what, reason, since, text) => {
  expect(waitText({ reason, message: 'why', ...(since !== undefined && { since }) })).toBe(text)
})
