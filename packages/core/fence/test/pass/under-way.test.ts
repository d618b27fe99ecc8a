import type { BlockedNode, FlightRecord } from '@tranche/api-schema'
import { planPass } from '@tranche/fence'
import { describe, expect, it } from 'vitest'
import { NOW_MS, type PassCase, passView, planText } from './pass-notation.ts'

type Case = PassCase & { readonly want: string }

const rules = { room: 'Check' } as const

function recordNaming(...blocked: readonly BlockedNode[]): Partial<FlightRecord> {
  return { blocked }
}

const drains: BlockedNode = { node: 'a', reason: 'Draining', message: 'drains' }
const pulls: BlockedNode = { node: 'a', reason: 'Pulling', message: 'pulls' }
const lacksRoom: BlockedNode = { node: 'a', reason: 'NoRoom', message: 'no room' }

describe('planPass: nodes on which executors work for long, which the record names', () => {
  const cases: Record<string, Case> = {
    'a drain is named although its node has a permit': { nodes: 'a:old', permits: 'a', rules, room: 'a=draining', want: 'blocked a' },
    'a drain that the record names costs no other write': {
      nodes: 'a:old',
      permits: 'a',
      rules,
      room: 'a=draining',
      record: recordNaming(drains),
      want: `wait for budget until ${NOW_MS + 14_000}`,
    },
    'a drain that another process has taken from the record is not named again by the same reading': {
      nodes: 'a:old',
      permits: 'a',
      rules,
      room: 'a=draining?',
      want: `wait for budget until ${NOW_MS + 3_000}`,
    },
    'a drain of another process stays in the record while its node has a permit': {
      nodes: 'a:old',
      permits: 'a',
      rules,
      room: 'a=pending',
      record: recordNaming(drains),
      want: `wait for budget until ${NOW_MS + 14_000}`,
    },
    'a drain that has ended leaves the record before the pod is deleted': {
      nodes: 'a:old',
      permits: 'a',
      rules,
      room: 'a=fits',
      record: recordNaming(drains),
      want: 'execute a',
    },
    'a drain that has ended leaves the record while its pod waits for the budget': {
      nodes: 'a:old b:new!',
      permits: 'a',
      rules,
      room: 'a=fits',
      record: recordNaming(drains),
      want: 'blocked ',
    },
    'a drain leaves the record once the old pod is gone': {
      nodes: 'a:none',
      permits: 'a.gone',
      rules,
      record: recordNaming(drains),
      want: 'blocked ',
    },
    'a drain that was given up leaves to the words of the failure': {
      nodes: 'a:old',
      rules,
      room: 'a=short',
      record: recordNaming(drains),
      want: 'blocked a',
    },
    'a node that lacks room has no permit in the record: another reason than work': {
      nodes: 'a:old',
      permits: 'a',
      rules,
      room: 'a=fits',
      record: recordNaming(lacksRoom),
      want: 'execute a',
    },
    'a pull is named before its node has a permit': {
      nodes: 'a:old',
      ahead: 1,
      prepared: 'a=begun^',
      room: 'a=pulling',
      want: 'blocked a',
    },
    'a pull is named once it takes long: the clock wakes the executor': {
      nodes: 'a:old',
      ahead: 1,
      prepared: 'a=begun^',
      want: `wait for batch until ${NOW_MS + 2_000}`,
    },
    'a pull of another process stays while its helper pod pulls': {
      nodes: 'a:old',
      ahead: 1,
      prepared: 'a=begun^',
      record: recordNaming(pulls),
      want: `wait for batch until ${NOW_MS + 2_000}`,
    },
    'a pull that has ended leaves the record in the write of the permit, after a check': {
      nodes: 'a:old',
      ahead: 1,
      prepared: 'a=ready',
      record: recordNaming(pulls),
      want: 'check a for permit',
    },
    'a pull whose helper pod is gone leaves the record': {
      nodes: 'a:old b:old',
      partition: 2,
      ahead: 1,
      record: recordNaming(pulls),
      want: 'blocked ',
    },
    'a pull that has ended leaves the record, although its node waits for the budget': {
      nodes: 'a:old b:new!',
      ahead: 1,
      prepared: 'a=ready',
      room: 'a=fits',
      record: recordNaming(pulls),
      want: 'append a, blocked ',
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { want, ...given }) => {
    expect(planText(planPass(passView(given)))).toBe(want)
  })
})
