import { checkPolicy, checkRollout, type Problem } from '@tranche/validation'
import { describe, expect, it } from 'vitest'
import { rolloutWith } from './rollouts.ts'

const unknown = { desired: null, workloadExists: null }

describe('fields of the wrong type', () => {
  it('are reported with path and value, and hide no other problem', () => {
    const { problems, object } = checkRollout(
      {
        metadata: { name: 'node-agent', annotations: { 'tranche.dev/on-delete': 'Abort' } },
        spec: {
          workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: '' },
          strategy: { canary: { steps: [{ replicas: 1.5 }, { replicas: 0, pause: { duration: 'soon' } }] } },
        },
      },
      unknown,
    )
    expect(object).toBeNull()
    expect(problems.map(({ rule, path, value }) => [rule, path, value])).toEqual([
      ['RolloutField', 'spec.strategy.canary.steps[0].replicas', 1.5],
      ['RolloutField', 'spec.strategy.canary.steps[1].pause.duration', 'soon'],
      ['WorkloadName', 'spec.workloadRef.name', ''],
      ['StepSize', 'spec.strategy.canary.steps[1].replicas', 0],
      ['OnDelete', 'metadata.annotations[tranche.dev/on-delete]', 'Abort'],
    ])
  })

  it('that are missing are reported as missing', () => {
    expect(paths(checkRollout({ metadata: { name: 'x' }, spec: { strategy: {} } }, unknown).problems)).toEqual([
      'spec.workloadRef',
      'spec.strategy.canary',
    ])
  })

  it.each<[string, object, readonly string[]]>([
    ['in a list', { nodes: { spread: [{ topologyKey: 'zone' }] } }, ['spec.nodes.spread[0].maxUnavailable']],
    ['twice', { notify: [{}, { name: 'a', webhook: {} }] }, ['spec.notify[0].name', 'spec.notify[1].webhook.url']],
    [
      'of another type, where it is required',
      { nodes: { spread: [{ topologyKey: 3, maxUnavailable: 1 }] } },
      ['spec.nodes.spread[0].topologyKey'],
    ],
    ['an entry of a list', { notify: ['pager'] }, ['spec.notify[0]']],
    ['with more below it', { notify: [{ name: 'a', slack: {} }] }, ['spec.notify[0].slack.url']],
    [
      'one of some words',
      { nodes: { exclude: [{ matchExpressions: [{ key: 'a' }] }] } },
      ['spec.nodes.exclude[0].matchExpressions[0].operator'],
    ],
  ])('that are required and missing hide no other broken rule (%s)', (_where, spec, missing) => {
    const broken = { failure: { maxFailedNodes: '2 %' }, soak: { step: 'soon' } }
    const { problems } = checkPolicy({
      apiVersion: 'tranche.dev/v1alpha1',
      kind: 'ReleasePolicy',
      metadata: { name: 'x' },
      spec: { ...broken, ...spec },
    })
    const reported = problems.map(({ path }) => path)
    expect(reported).toEqual(expect.arrayContaining([...missing, 'spec.failure.maxFailedNodes', 'spec.soak.step']))
    expect(new Set(reported).size).toBe(reported.length)
  })

  it.each([
    [
      'spec.failure.progressDeadlineSeconds',
      { failure: { progressDeadlineSeconds: '5m' } },
      'set it to a number, without quotes and without a unit',
    ],
    ['spec.failure.maxRestarts', { failure: { maxRestarts: 1.5 } }, 'set it to a whole number, without quotes and without a unit'],
    ['spec.soak.step', { soak: { step: 30 } }, 'add a unit, as in 30s: ms, s, m or h'],
    ['spec.soak.final', { soak: { final: true } }, 'set it to a duration such as 30s'],
    ['spec.failure.action', { failure: { action: 'rollback' } }, 'set it to Pause, Rollback or Continue'],
    ['spec.analysis[0].background', { analysis: [{ name: 'a', background: 'yes' }] }, 'set it to true or false, without quotes'],
    ['spec.nodes.order', { nodes: { order: { by: 'Name' } } }, 'make it a list with one entry a line, each after a hyphen'],
    ['spec.failure', { failure: 'Rollback' }, 'make it an object with one field a line'],
    ['spec.nodes.spread[0].maxUnavailable', { nodes: { spread: [{ topologyKey: 'zone' }] } }, 'add it'],
  ])('at %s say what to write instead', (path, spec, fix) => {
    const { problems } = checkPolicy({ apiVersion: 'tranche.dev/v1alpha1', kind: 'ReleasePolicy', metadata: { name: 'x' }, spec })
    expect(problems).toContainEqual(expect.objectContaining({ rule: 'PolicyField', path, fix }))
  })

  it.each([
    ['spec.soak.step', { soak: { step: 5 } }, 'it is a number, and must be a duration such as 30s'],
    ['spec.nodes.order', { nodes: { order: 'Name' } }, 'it is a string, and must be a list'],
    ['spec.failure', { failure: null }, 'it is null, and must be an object'],
  ])('at %s say what it is and what it must be', (path, spec, message) => {
    const { problems } = checkPolicy({ apiVersion: 'tranche.dev/v1alpha1', kind: 'ReleasePolicy', metadata: { name: 'x' }, spec })
    expect(problems).toContainEqual(expect.objectContaining({ path, message }))
  })

  it.each([[null], [3], ['rollout'], [[]], [{}]])('%j is reported as no Rollout', (value) => {
    expect(checkRollout(value, unknown)).toMatchObject({
      object: null,
      problems: expect.arrayContaining([expect.objectContaining({ rule: 'RolloutField' })]),
    })
  })
})

describe('fields that do not exist', () => {
  it('are reported at any depth', () => {
    const rollout = rolloutWith()
    const value = {
      ...rollout,
      spec: { ...rollout.spec, strategy: { canary: { steps: [{ replica: '10%' }, { replicas: '100%' }], stepz: [] } } },
    }
    expect(paths(checkRollout(value, unknown).problems)).toEqual([
      'spec.strategy.canary.steps[0].replica',
      'spec.strategy.canary.stepz',
      'spec.strategy.canary.steps[0].replicas',
    ])
  })

  it('are allowed where the schema is open', () => {
    const rollout = rolloutWith()
    const matches = [{ path: { value: '/x', more: 1 } }]
    const value = { ...rollout, spec: { ...rollout.spec, strategy: { canary: { steps: [{ replicas: '100%', matches }] } } } }
    expect(checkRollout(value, unknown).problems.map(({ rule }) => rule)).toEqual(['StepMatches'])
  })
})

function paths(problems: readonly Problem[]): readonly string[] {
  return problems.map(({ path }) => path)
}
