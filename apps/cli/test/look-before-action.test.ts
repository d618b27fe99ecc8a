import type { RolloutReport } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { lookBeforeAction } from '../src/release-client/look-before-action.ts'

const key = { namespace: 'demo', name: 'agent' }

describe('preconditions that the command adds', () => {
  it.each([
    ['the step and the revision of a running release', 'Progressing', { expectedStep: 2, revision: 'v2' }],
    ['only the revision between releases, for no option is at fault then', 'Healthy', { revision: 'v2' }],
  ])('are %s', async (_name, phase, body) => {
    const report = { phase, step: { index: 2, count: 2, state: 'StepPaused' }, canaryRevision: 'v2' } as Partial<RolloutReport>
    const client = { report: async () => report as RolloutReport, picture: () => Promise.reject(new Error('not read')) }
    await expect(lookBeforeAction(client, key, { type: 'approve', body: {} })).resolves.toMatchObject({ body })
    expect((await lookBeforeAction(client, key, { type: 'approve', body: {} })).body).toEqual(body)
  })
})
