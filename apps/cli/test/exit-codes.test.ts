import { outcomes } from '@tranche/api-schema'
import { expect, it } from 'vitest'
import { statusExitCodeOf } from '../src/process/exit-codes.ts'

it.each([
  ['a release that is done', 'Done', false, 0],
  ['one that was rolled back', 'RolledBack', false, 1],
  ['one in progress at the timeout', 'Running', false, 2],
  ['one that waits for a person', 'Waiting', false, 3],
  ['one that waits for a person when the time is up, with --through-pauses', 'Waiting', true, 2],
  ['one that is done, with --through-pauses', 'Done', true, 0],
] as const)('status exits for %s with its code', (_what, outcome, waitsThrough, code) => {
  expect(statusExitCodeOf(outcome, { waitsThrough })).toBe(code)
})

it.each(outcomes)('status exits for %s with the same code with and without --through-pauses, unless it waits for a person', (outcome) => {
  const [without, through] = [false, true].map((waitsThrough) => statusExitCodeOf(outcome, { waitsThrough }))
  expect([without, through]).toEqual(outcome === 'Waiting' ? [3, 2] : [without, without])
})
