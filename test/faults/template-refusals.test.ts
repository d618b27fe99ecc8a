import type { RecordedWrite } from '@tranche/recording'
import { describe, expect, it } from 'vitest'
import type { Asked } from './callers.ts'
import { findWrongRefusals } from './judge-refusals.ts'

/** State of the cluster. Templates and revisions have the same names. */
interface Cluster {
  readonly template?: string
  /** Revisions by hash: number, and the template that each holds. */
  readonly history?: Readonly<Record<string, readonly [number, string?]>>
  readonly boundTo?: string
  /** Index of a step that is paused. */
  readonly step?: number
  readonly isDisabled?: boolean
}

/** Writes, one each second, the first at 1 s. */
type Story = readonly (Cluster | Partial<RecordedWrite>)[]

const history = { v1: [1, 'v1'], v2: [2, 'v2'] } as const

function writesOf(story: Story): readonly RecordedWrite[] {
  return story.flatMap((one, at): readonly RecordedWrite[] => {
    const t = (at + 1) * 1_000
    const line = { t, rv: at + 1, type: 'MODIFIED', actor: 'people', o: {} } as const
    if ('kind' in one) return [{ ...line, ...one } as RecordedWrite]
    const { template = 'v2', history: revisions = history, boundTo = 'agent', step = 1, isDisabled = false } = one as Cluster
    const canaryStatus = { currentStepIndex: step, currentStepState: 'StepPaused', canaryRevision: 'v2', stableRevision: 'v1' }
    const rollout = {
      metadata: { name: 'agent', annotations: {} },
      spec: { disabled: isDisabled },
      status: {
        phase: 'Progressing',
        canaryStatus,
        failure: {},
        conditions: [{ type: 'Stalled', status: 'True', reason: 'PolicyNotFound' }],
      },
    }
    return [
      ...Object.entries(revisions).map(([hash, [revision, holds]]) =>
        revisionWrite(line, { hash, revision, ...(holds !== undefined && { template: holds }) }),
      ),
      { ...line, kind: 'DaemonSet', uid: 'd', o: daemonSet({ template: 'v1' }) },
      { ...line, kind: 'DaemonSet', uid: 'd', o: daemonSet({ template, boundTo }) },
      { ...line, kind: 'Rollout', uid: 'r', o: rollout },
    ]
  })
}

function revisionWrite(line: Omit<RecordedWrite, 'kind'>, revision: object): RecordedWrite {
  const { hash } = revision as { readonly hash: string }
  return { ...line, kind: 'ControllerRevision', o: { name: `agent-${hash}`, ownerUid: 'd', ...revision } }
}

function daemonSet({
  template,
  boundTo,
  records = [],
}: {
  readonly template: string
  readonly boundTo?: string
  readonly records?: readonly object[]
}) {
  const annotations = {
    ...(boundTo !== undefined && { 'tranche.dev/rollout': boundTo }),
    'tranche.dev/recorded-actions': JSON.stringify(records),
  }
  return { name: 'agent', uid: 'd', template, annotations }
}

const changed = (
  template: string,
  more: Partial<RecordedWrite> & { readonly records?: readonly object[] } = {},
): Partial<RecordedWrite> => ({
  kind: 'DaemonSet',
  uid: 'd',
  o: daemonSet({ template, boundTo: 'agent', ...(more.records && { records: more.records }) }),
  ...more,
})
const gone = (kind: 'DaemonSet' | 'Rollout'): Partial<RecordedWrite> => ({ kind, type: 'DELETED', o: { metadata: {} } })

/** Sent after the first write, and refused two seconds later. */
function refused(type: 'undo' | 'restart', code: string, body: Asked['body'] = type === 'undo' ? { toRevision: '1' } : {}): Asked {
  return { key: 'ask-1', type, body, sentMs: 1_500, outcome: { kind: 'refused', atMs: 3_500, code }, faults: [] }
}

const found = (story: Story, asked: Asked): readonly string[] =>
  findWrongRefusals(writesOf(story), [asked], { quiescentFromMs: 10_000, stalls: [] }).map(({ guarantee, text }) => `${guarantee} ${text}`)

describe('a refusal of an undo or a restart without a reason', () => {
  it.each<[string, Story, Asked]>([
    ['an undo to a revision of the history, whatever the status says', [{}], refused('undo', 'ACTION_REJECTED')],
    ['an undo to a revision by its hash', [{}], refused('undo', 'ACTION_REJECTED', { toRevision: 'v1' })],
    ['an undo of a Rollout that is disabled and bound', [{ isDisabled: true }], refused('undo', 'ACTION_REJECTED')],
    ['an undo as overtaken, though the template has not changed', [{}], refused('undo', 'MOVED_ON')],
    ['an undo from the present revision', [{}], refused('undo', 'MOVED_ON', { toRevision: '1', revision: 'v2' })],
    ['an undo at the step that it names', [{}], refused('undo', 'MOVED_ON', { toRevision: '1', expectedStep: 1 })],
    ['an undo to a revision that exists', [{}], refused('undo', 'REVISION_NOT_FOUND')],
    ['an undo of a DaemonSet that is bound', [{}], refused('undo', 'NOT_BOUND')],
    ['an undo of a DaemonSet that exists', [{}], refused('undo', 'WORKLOAD_NOT_FOUND')],
    ['an undo of a Rollout that exists', [{}], refused('undo', 'ROLLOUT_NOT_FOUND')],
    ['an undo to no revision, if an earlier one was never rolled back', [{}], refused('undo', 'ACTION_REJECTED', {})],
    [
      'an undo that was carried out',
      [{}, changed('v1', { actor: 'api-1', records: [{ id: 'a', type: 'undo', reason: 'ask-1' }] })],
      refused('undo', 'MOVED_ON'),
    ],
    ['an undo with the key of another action', [{}], refused('undo', 'IDEMPOTENCY_KEY_REUSED')],
    ['a restart', [{}], refused('restart', 'ACTION_REJECTED')],
    ['a restart as overtaken', [{}, changed('v3')], refused('restart', 'MOVED_ON')],
    ['a restart of a DaemonSet that is bound', [{}], refused('restart', 'NOT_BOUND')],
    [
      'a restart more than a second after another',
      [changed('v3', { t: 400, records: [{ id: 'a', type: 'restart' }] }), {}],
      refused('restart', 'ACTION_REJECTED'),
    ],
  ])('is found: %s (G7)', (_what, story, asked) => {
    const { code } = asked.outcome as { readonly code: string }
    expect(found(story, asked)).toEqual([`G7 the ${asked.type} ask-1 was refused with ${code} without a reason`])
  })
})

describe('a refusal of an undo or a restart with a reason', () => {
  it.each<[string, Story, Asked]>([
    ['the template changes meanwhile', [{}, changed('v3')], refused('undo', 'MOVED_ON')],
    [
      'the DaemonSet does not have the template that the undo names',
      [{}],
      refused('undo', 'MOVED_ON', { toRevision: '1', revision: 'v3' }),
    ],
    ['the release is not at the step that the undo names', [{}], refused('undo', 'MOVED_ON', { toRevision: '1', expectedStep: 2 })],
    ['the release is not at the step that the restart names', [{}], refused('restart', 'MOVED_ON', { expectedStep: 2 })],
    ['the revision is the present one', [{ template: 'v1' }], refused('undo', 'ACTION_REJECTED')],
    ['the present template has no revision yet', [{ template: 'v3' }], refused('undo', 'ACTION_REJECTED')],
    ['the revision is not in the history', [{}], refused('undo', 'REVISION_NOT_FOUND', { toRevision: '3' })],
    ['the revision holds no template', [{ history: { ...history, v1: [1] } }], refused('undo', 'ACTION_REJECTED')],
    [
      'the revision holds a template that the DaemonSet never had',
      [{ history: { ...history, v1: [1, 'v9'] } }],
      refused('undo', 'ACTION_REJECTED'),
    ],
    ['there is no other revision', [{ history: { v2: [2, 'v2'] } }], refused('undo', 'ACTION_REJECTED', {})],
    [
      'every other revision was rolled back by a controller',
      [{ template: 'v1' }, changed('v2'), changed('v1', { actor: 'controller-1' })],
      refused('undo', 'ACTION_REJECTED', {}),
    ],
    [
      'every other revision was aborted',
      [
        {},
        { kind: 'Rollout', o: { metadata: { name: 'agent', annotations: { 'tranche.dev/action': '{"type":"abort"}' } }, spec: {} } },
        changed('v1', { actor: 'controller-1' }),
      ],
      refused('undo', 'ACTION_REJECTED', { toRevision: '0' }),
    ],
    ['the DaemonSet is bound to another Rollout', [{ boundTo: 'other' }], refused('undo', 'NOT_BOUND')],
    ['the DaemonSet of a restart is bound to another Rollout', [{ boundTo: 'other' }], refused('restart', 'NOT_BOUND')],
    ['the DaemonSet is gone', [{}, gone('DaemonSet')], refused('restart', 'WORKLOAD_NOT_FOUND')],
    ['the DaemonSet has gone with its history', [{}, gone('DaemonSet')], refused('undo', 'ACTION_REJECTED', { toRevision: 'v1' })],
    ['the Rollout is gone', [{}, gone('Rollout')], refused('restart', 'ROLLOUT_NOT_FOUND')],
    [
      'another restart was written within the second',
      [{}, changed('v3', { records: [{ id: 'a', type: 'restart' }] })],
      refused('restart', 'ACTION_REJECTED'),
    ],
  ])('is correct if %s', (_why, story, asked) => {
    expect(found(story, asked)).toEqual([])
  })
})
