import type { ActionType } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { timeSpanText } from '../src/format/duration.ts'
import { imageChanges, imageVersion } from '../src/format/image-change.ts'
import { lookOf, nodeLooks } from '../src/format/outcome-text.ts'
import { createServerTime } from '../src/session/server-time.ts'
import { actionOrder, bodyOfAction, textOfAction } from '../src/pages/rollout/actions/action-texts.ts'
import { report, summary } from './builders.ts'

describe('a duration', () => {
  it.each([
    [-5_000, '0s'],
    [59_999, '59s'],
    [245_000, '4m 05s'],
    [7_800_000, '2h 10m'],
    [273_600_000, '3d 4h'],
  ])('of %d ms is %s', (ms, text) => {
    expect(timeSpanText(ms)).toBe(text)
  })
})

describe('the version of an image', () => {
  it.each([
    ['registry.example:5000/team/agent:v2', 'v2'],
    ['registry.example:5000/team/agent', 'agent'],
    ['agent@sha256:0123456789abcdef0123', '0123456789ab'],
    ['agent:v2@sha256:0123456789abcdef', 'v2'],
  ])('of %s is %s', (image, version) => {
    expect(imageVersion(image)).toBe(version)
  })

  it('changes per container, and an added one counts', () => {
    expect(imageChanges(['a:1', 'b:1'], ['a:1', 'b:2', 'c:1'])).toEqual([
      { from: 'b:1', to: 'b:2' },
      { from: 'none', to: 'c:1' },
    ])
  })
})

describe('a state', () => {
  it.each([
    ['Disabled', { disabled: true, outcome: 'Failed' as const }],
    ['Disabling', { disabled: true, phase: 'Disabling', outcome: 'Running' as const }],
    ['Failed', { disabled: true, phase: 'Disabling', outcome: 'Failed' as const }],
    ['Terminating', { disabled: true, phase: 'Terminating', outcome: 'Running' as const }],
    ['Failed', { disabled: true, phase: 'Terminating', outcome: 'Failed' as const }],
    ['Paused', { paused: true, outcome: 'Waiting' as const }],
    ['Failed', { paused: true, outcome: 'Failed' as const }],
    ['Rolling back', { rollbackFrom: 'bad', outcome: 'Running' as const }],
  ])('is shown as %s', (word, changes) => {
    expect(lookOf(summary(changes)).word).toBe(word)
  })

  it('of a node has a word and a glyph of its own', () => {
    const looks = Object.values(nodeLooks)
    expect(new Set(looks.map(({ word }) => word)).size).toBe(looks.length)
    expect(new Set(looks.map(({ glyph }) => glyph)).size).toBe(looks.length)
  })
})

describe('the clock of the server', () => {
  it('corrects a browser that is an hour wrong, and leaves a difference within the precision of the header', () => {
    const clock = createServerTime(() => Date.parse('2026-11-26T01:00:00Z'))
    clock.observe('Thu, 26 Nov 2026 02:00:00 GMT')
    expect(new Date(clock.nowMs()).toISOString()).toBe('2026-11-26T02:00:00.000Z')
    clock.observe('Thu, 26 Nov 2026 01:00:01 GMT')
    expect(clock.offsetMs).toBe(0)
  })

  it.each([null, '', 'yesterday'])('ignores the header %o', (date) => {
    const clock = createServerTime(() => 5)
    clock.observe(date)
    expect(clock.nowMs()).toBe(5)
  })
})

describe('the confirmation of an action', () => {
  it.each(actionOrder)('says what %s does', (type) => {
    const { question, effects, label } = textOfAction(type, report())
    expect(question).toMatch(/\?$/)
    expect(effects.join(' ')).toMatch(/^[A-Z\d].*\.$/)
    expect(label).not.toBe('')
  })

  it('requires the typed name where it affects many nodes or changes the version', () => {
    expect(actionOrder.filter((type) => textOfAction(type, report()).mustTypeName)).toEqual(['promote', 'abort', 'undo', 'restart'])
  })

  it('names the size of the next step, and the versions of a rollback', () => {
    expect(textOfAction('approve', report()).effects).toEqual(['Step 2 begins: up to 5 nodes run v2.'])
    expect(textOfAction('abort', report()).effects[0]).toContain('1 node with v2 go back to v1,')
  })

  it('says that an abort returns to a version that failed', () => {
    const failedStable = { revision: 'stable', at: '2026-11-26T00:00:00Z' }
    expect(textOfAction('abort', report({ failedStable })).effects[0]).toBe(
      'That returns to revision stable, which is blocked because it failed at 2026-11-26T00:00:00Z.',
    )
  })

  it('names the config that an abort rolls back, which the images do not show', () => {
    const { question, effects } = textOfAction('abort', report({ images: ['registry.example/agent:v1'] }), {
      changedConfig: ['ConfigMap agent', 'Secret keys'],
    })
    expect(question).toBe('Abort the release of v1 (changed ConfigMap agent, Secret keys) and roll back?')
    expect(effects[0]).toContain('1 node with v1 (changed ConfigMap agent, Secret keys) go back to v1 with the earlier config,')
    expect(effects[1]).toContain('That version is blocked')
  })
})

describe('the body of an action', () => {
  const none = { reason: '', isFull: false, step: null, toRevision: null }
  it.each<[ActionType, Partial<typeof none> | { readonly step: number } | { readonly toRevision: string }, object]>([
    ['approve', { reason: '  fine  ' }, { reason: 'fine', expectedStep: 1, revision: 'canary' }],
    ['promote', { isFull: true }, { expectedStep: 1, revision: 'canary', full: true }],
    ['jump', { step: 3 }, { expectedStep: 1, revision: 'canary', step: 3 }],
    ['abort', { isFull: true }, { revision: 'canary' }],
    ['undo', { toRevision: 'stable' }, { toRevision: 'stable', revision: 'template' }],
    ['pause', {}, {}],
  ])('of %s is for the moment that the user saw', (type, choice, body) => {
    expect(bodyOfAction(type, report(), { ...none, ...choice }, 'template')).toEqual(body)
  })
})
