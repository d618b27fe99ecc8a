import type { Explanation, RolloutReport } from '@tranche/api-schema'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { nextBesideStatus } from '../src/pages/rollout/next-beside-status.ts'
import { StatusNote } from '../src/pages/rollout/status-note.tsx'
import { report } from './builders.ts'

const explanation: Explanation = {
  subject: 'agent',
  answer: 'v2 was rolled back; every node runs v1',
  rule: 'RolledBack',
  facts: [{ name: 'group', value: 'storage' }],
  next: 'apply another template',
}
const need = { reason: 'PolicyNotFound', message: 'there is no such ReleasePolicy', actions: [] }

describe('what would change the status', () => {
  const waits = (reason: string, message = 'a wait'): Partial<RolloutReport> => ({ waitingFor: { reason, message, nodes: [] } })

  it.each<[string, Partial<RolloutReport>, string | undefined]>([
    ['is said after a rollback', { outcome: 'RolledBack' }, 'apply another template'],
    ['is said for a wait whose message does not say it', waits('DrainNotAllowed'), 'apply another template'],
    ['is said where no action helps', { need }, 'apply another template'],
    ['is left out where buttons say it', { need: { ...need, actions: ['approve'] } }, undefined],
    ['is left out where the message names the nodes that it waits for', waits('Upgrading'), undefined],
    ['is left out where it is the message of the wait', waits('Soaking', 'apply another template'), undefined],
    ['is left out where the page counts down', { remaining: { of: 'pause', until: '2026-11-26T00:00:00Z' } }, undefined],
  ])('%s', (_title, changes, want) => {
    expect(nextBesideStatus(report(changes), explanation)).toBe(want)
  })

  it('is on the page with the deciding rule; the facts follow on request', () => {
    const html = renderToStaticMarkup(createElement(StatusNote, { report: report({ outcome: 'RolledBack' }), explanation }))
    expect(html).toMatch(/every node runs v1.*What would change this:.*apply another template.*Deciding rule: <strong>RolledBack/)
    expect(html).not.toContain('storage')
  })
})
