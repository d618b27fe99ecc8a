import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as schema from '../../packages/words/api-schema/src/index.ts'
import * as keys from '../../packages/words/kube-types/src/index.ts'

const phases = readFileSync('docs/reference/release-phases.md', 'utf8')
const reports = readFileSync('docs/reference/reports.md', 'utf8')
const annotations = readFileSync('docs/reference/annotations.md', 'utf8')

describe('docs/reference/release-phases.md names every', () => {
  it.each([
    ['phase of a Rollout', schema.rolloutPhases],
    ['reason of Progressing', schema.progressingReasons],
    ['step state', schema.stepStates],
    ['phase of a BatchRelease but the empty one', schema.batchReleasePhases.filter((phase) => phase !== 'Initial')],
    ['batch state', schema.batchStates],
    ['state of the record', schema.flightStates],
    ['condition type', schema.rolloutConditionTypes],
    ['reason of Stalled', schema.stalledReasons],
    ['reason of Terminating', schema.terminatingReasons],
  ] as const)('%s', (_kind, words) => {
    expect(words.filter((word) => !new RegExp(`\\b${word}\\b`).test(phases))).toEqual([])
  })

  it('reason of a blocked node, and of a wait for a group, among the reasons of waiting', () => {
    const table = phases.slice(phases.indexOf('| reason of waiting |'), phases.indexOf('## When RollingUpdate is set back'))
    const listed = [...table.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1])
    const reasons = [...schema.blockedReasons, ...schema.groupWaitReasons]
    expect(reasons.filter((reason) => !listed.includes(reason))).toEqual([])
  })

  it('existing reason of Stalled, and no other', () => {
    const table = phases.slice(phases.indexOf('| reason of Stalled |'))
    const listed = [...table.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1])
    expect(listed).toEqual(schema.stalledReasons)
  })
})

describe('docs/reference/reports.md names every', () => {
  it.each([
    ['outcome', schema.outcomes],
    ['state of a node', schema.nodeStates],
    ['role of a revision', schema.revisionRoles],
    [
      'reason of Stalled that waits for a decision',
      ['AnalysisInconclusive', 'StrategyConflict', 'PodsStuck', 'RevisionHeld', 'ReleaseFailed'],
    ],
  ] as const)('%s', (_kind, words) => {
    expect(words.filter((word) => !reports.includes(`\`${word}\``))).toEqual([])
  })
})

describe('docs/reference/annotations.md names every', () => {
  it.each([
    ...Object.values(keys.daemonSetAnnotations),
    ...Object.values(keys.rolloutAnnotations),
    ...Object.values(keys.kruiseAnnotations),
    keys.ROLLOUT_HASH_ANNOTATION,
    keys.LEAKED_LABEL,
    keys.WORKLOAD_TYPE_LABEL,
    keys.ROLLOUT_ID_LABEL,
    keys.ROLLOUT_BATCH_ID_LABEL,
    keys.TOUCHED_ANNOTATION,
    keys.REVISION_HASH_LABEL,
  ])('key: %s', (key) => {
    expect(annotations).toMatch(new RegExp(`^\\| (label |annotation )?\`${RegExp.escape(key)}\` \\|`, 'm'))
  })
})
