import type { RolloutSummary } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { type FleetFilter, filterOf, groupFleet, groupOf, queryOf } from '../src/pages/fleet/fleet-filter.ts'
import { summary } from './builders.ts'

describe('the group of a rollout', () => {
  it.each<[string, Partial<RolloutSummary>, string]>([
    [
      'needs you if a person has to decide',
      { outcome: 'Running', need: { reason: 'StepPaused', message: 'approve step 1', actions: ['approve'] } },
      'needsYou',
    ],
    ['needs you if its version failed', { outcome: 'Failed' }, 'needsYou'],
    ['needs you if it cannot continue', { outcome: 'Blocked' }, 'needsYou'],
    ['is in progress while Tranche acts', { outcome: 'Running', phase: 'Progressing' }, 'running'],
    ['is up to date when every node has the version', { outcome: 'Done' }, 'well'],
    ['is up to date after a clean rollback', { outcome: 'RolledBack' }, 'well'],
    ['is up to date before its first release', { outcome: 'Running', phase: 'Initial' }, 'well'],
    [
      'is in progress while it ends its release before it is disabled',
      { outcome: 'Running', phase: 'Disabling', disabled: true },
      'running',
    ],
    ['is disabled if Tranche has no part in it', { outcome: 'Done', disabled: true }, 'off'],
    ['is in progress while its release ends before it is deleted', { outcome: 'Running', disabled: true, phase: 'Terminating' }, 'running'],
  ])('%s', (_title, changes, group) => {
    expect(groupOf(summary(changes))).toBe(group)
  })
})

describe('the fleet', () => {
  const fleet = [
    summary({ name: 'well' }),
    summary({ name: 'waits-short', outcome: 'Waiting', step: { index: 1, count: 2, state: 'StepPaused', since: '2026-11-26T02:00:00Z' } }),
    summary({ name: 'waits-long', outcome: 'Waiting', step: { index: 1, count: 2, state: 'StepPaused', since: '2026-11-26T01:00:00Z' } }),
    summary({ name: 'failed', namespace: 'other', outcome: 'Failed' }),
    summary({ name: 'runs', outcome: 'Running', phase: 'Progressing', images: ['registry.example/Proxy:v9'] }),
  ]
  const all = filterOf({})
  const shown = (filter: Partial<FleetFilter>): readonly string[] =>
    groupFleet(fleet, { ...all, ...filter }).map(({ group, rollouts }) => `${group}: ${rollouts.map(({ name }) => name).join(' ')}`)

  it('begins with the Rollouts that need a person: failures first, then the longest wait', () => {
    expect(shown({})).toEqual(['needsYou: failed waits-long waits-short', 'running: runs', 'well: well'])
  })

  it.each<[string, Partial<FleetFilter>, readonly string[]]>([
    ['by a word of the image, in any case', { text: 'proxy' }, ['running: runs']],
    ['by every word of the text', { text: 'waits long' }, ['needsYou: waits-long']],
    ['by namespace', { namespace: 'other' }, ['needsYou: failed']],
    ['by group', { group: 'well' }, ['well: well']],
    ['to nothing', { text: 'nothing like this' }, []],
  ])('is filtered %s', (_title, filter, want) => {
    expect(shown(filter)).toEqual(want)
  })

  it('keeps its filter in the URL, without defaults', () => {
    expect(queryOf(all)).toEqual({})
    const filter: FleetFilter = { text: 'a', namespace: 'demo', group: 'running', sort: 'name' }
    expect(filterOf(queryOf(filter))).toEqual(filter)
    expect(filterOf({ group: 'nonsense', sort: 'nonsense' })).toEqual(all)
  })
})
