import type { CanaryStatus, Rollout, RolloutPhase, RolloutStatus } from '@tranche/api-schema'
import {
  type AdviceRule,
  type AdviceSurroundings,
  adviseRollout,
  parseAction,
  downtimeAdvice,
  groupAdvice,
  prePullAdvice,
  problemsText,
  roomAdvice,
  problemText,
  validateChange,
  validateRollout,
  validateSpec,
} from '@tranche/validation'
import { describe, expect, it } from 'vitest'
import { rolloutAnnotated, rolloutInSteps, rolloutWith } from './rollouts.ts'

const workloadRef = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'node-agent' }
const steps = [{ replicas: '100%' }]

function inCanary(canary: NonNullable<Rollout['spec']['strategy']['canary']>): Rollout {
  return rolloutWith({ spec: { strategy: { canary: { steps, ...canary } } } })
}

describe('a Rollout is valid', () => {
  it.each<[string, Rollout]>([
    ['with percentages that grow', rolloutInSteps({ replicas: '10%', pause: {} }, { replicas: '50%' }, { replicas: '100%' })],
    ['with numbers that grow', rolloutInSteps({ replicas: 1 }, { replicas: 5, pause: { duration: 0 } })],
    ['with two steps of one size', rolloutInSteps({ replicas: 5 }, { replicas: 5 })],
    ['with a last step below 100%', rolloutInSteps({ replicas: '10%' })],
    ['with a number above any fleet, which is clamped', rolloutInSteps({ replicas: 1_000_000 })],
    ['with 50 steps', rolloutInSteps(...Array.from({ length: 50 }, () => ({ replicas: 1 })))],
    ['with a threshold of 0', inCanary({ failureThreshold: 0 })],
    ['with a threshold of 100%', inCanary({ failureThreshold: '100%' })],
    ['with an empty list of traffic routings', inCanary({ trafficRoutings: [] })],
    ['with a known policy for its own deletion', rolloutAnnotated({ 'tranche.dev/on-delete': 'Rollback' })],
    ['with a readable action', rolloutAnnotated({ 'tranche.dev/action': '{"id":"1","type":"approve","expectedStep":1}' })],
    ['with annotations of others', rolloutAnnotated({ 'example.com/note': '{' })],
  ])('%s', (_, rollout) => {
    expect(validateRollout(rollout)).toEqual([])
  })
})

describe('a Rollout breaks a rule', () => {
  it.each<[string, Rollout, string]>([
    [
      'with a group version that is not served',
      rolloutWith({ spec: { workloadRef: { ...workloadRef, apiVersion: 'apps/v1beta2' } } }),
      'spec.workloadRef.apiVersion is "apps/v1beta2": DaemonSets must use apps/v1; set it to apps/v1',
    ],
    [
      'with an empty name',
      rolloutWith({ spec: { workloadRef: { ...workloadRef, name: '' } } }),
      'spec.workloadRef.name is "": it must be a valid DaemonSet name; set it to the name of a DaemonSet in the same namespace',
    ],
    [
      'without a strategy',
      rolloutWith({ spec: { strategy: {} } }),
      'spec.strategy.canary is missing: a Rollout must list the steps of a release; add canary: {steps: [{replicas: "10%", pause: {}}, {replicas: "100%"}]}',
    ],
    [
      'without steps',
      rolloutWith({ spec: { strategy: { canary: {} } } }),
      'spec.strategy.canary.steps is missing: a release needs at least one step; add a step such as {replicas: "10%", pause: {}}',
    ],
    [
      'with an empty list of steps',
      rolloutInSteps(),
      'spec.strategy.canary.steps is []: a release needs at least one step; add a step such as {replicas: "10%", pause: {}}',
    ],
    [
      'with 51 steps',
      rolloutInSteps(...Array.from({ length: 51 }, () => ({ replicas: 1 }))),
      'spec.strategy.canary.steps is "51 steps": a release has at most 50 steps; merge steps',
    ],
    [
      'with a step without size',
      rolloutInSteps({ pause: {} }),
      'spec.strategy.canary.steps[0].replicas is missing: a step must state how many nodes are updated when it ends; set it to a whole number of nodes such as 3, or to a percentage such as "10%"',
    ],
    [
      'with a step of 0',
      rolloutInSteps({ replicas: 0 }),
      'spec.strategy.canary.steps[0].replicas is 0: a step must update a whole number of nodes, at least 1; set it to a whole number of nodes such as 3, or to a percentage such as "10%"',
    ],
    [
      'with a step of 0%',
      rolloutInSteps({ replicas: '0%' }),
      'spec.strategy.canary.steps[0].replicas is "0%": a step must update at least one node; set it to "1%" or more, or remove the step',
    ],
    [
      'with a step above 100%',
      rolloutInSteps({ replicas: '10%' }, { replicas: '150%' }),
      'spec.strategy.canary.steps[1].replicas is "150%": a percentage must be at most 100%; set it to "100%" or less',
    ],
    [
      'with a number in quotes',
      rolloutInSteps({ replicas: '5' }),
      'spec.strategy.canary.steps[0].replicas is "5": a number of nodes must not be quoted; write 5, or "5%"',
    ],
    [
      'with an invalid size',
      rolloutInSteps({ replicas: 'half' }),
      'spec.strategy.canary.steps[0].replicas is "half": it must be a whole number or a percentage; set it to a whole number of nodes such as 3, or to a percentage such as "10%"',
    ],
    [
      'with a number that shrinks',
      rolloutInSteps({ replicas: 5 }, { replicas: 3 }),
      'spec.strategy.canary.steps[1].replicas is 3: sizes are cumulative and must not shrink, and steps[0] has 5; set it to at least 5, or make steps[0] smaller',
    ],
    [
      'with a percentage that shrinks after a number',
      rolloutInSteps({ replicas: '50%' }, { replicas: 9 }, { replicas: '20%' }),
      'spec.strategy.canary.steps[2].replicas is "20%": sizes are cumulative and must not shrink, and steps[0] has "50%"; set it to at least "50%", or make steps[0] smaller',
    ],
    [
      'with a number that shrinks after several, naming the largest',
      rolloutInSteps({ replicas: 3 }, { replicas: 7 }, { replicas: 7 }, { replicas: 2 }),
      'spec.strategy.canary.steps[3].replicas is 2: sizes are cumulative and must not shrink, and steps[1] has 7; set it to at least 7, or make steps[1] smaller',
    ],
    [
      'with a negative pause',
      rolloutInSteps({ replicas: 1, pause: { duration: -1 } }),
      'spec.strategy.canary.steps[0].pause.duration is -1: a pause must not be negative; set it to 0 seconds or more, or write pause: {} to wait for approval',
    ],
    [
      'with an invalid threshold',
      inCanary({ failureThreshold: 'few' }),
      'spec.strategy.canary.failureThreshold is "few": it must state how many updated nodes may be unavailable when a step is ready; set it to a whole number from 0 such as 1, or to a percentage from "0%" to "100%"',
    ],
    [
      'with an invalid DaemonSet name',
      rolloutWith({ spec: { workloadRef: { ...workloadRef, name: 'Node Agent' } } }),
      'spec.workloadRef.name is "Node Agent": it must be a valid DaemonSet name; set it to the name of a DaemonSet in the same namespace',
    ],
    [
      'with a large number in quotes',
      rolloutInSteps({ replicas: '250' }),
      'spec.strategy.canary.steps[0].replicas is "250": a number of nodes must not be quoted; write 250',
    ],
    [
      'with an invalid rollback-in-batch',
      rolloutAnnotated({ 'rollouts.kruise.io/rollback-in-batch': 'yes' }),
      'metadata.annotations[rollouts.kruise.io/rollback-in-batch] is "yes": it must state whether a rollback follows the steps; set it to "true" or "false", or remove it',
    ],
    [
      'with an unknown policy for its own deletion',
      rolloutAnnotated({ 'tranche.dev/on-delete': 'Abort' }),
      'metadata.annotations[tranche.dev/on-delete] is "Abort": it must state what happens to a running release when the Rollout is deleted; set it to Freeze, Complete or Rollback, or remove it',
    ],
  ])('%s', (_, rollout, text) => {
    const problems = validateRollout(rollout)
    expect(problems.map(problemText)).toEqual([text])
    expect(problems[0]?.reason).toBe('InvalidSpec')
  })
})

describe('a Rollout uses a field that DaemonSets do not support', () => {
  it.each<[string, Rollout, string]>([
    ['blue and green', rolloutWith({ spec: { strategy: { blueGreen: { steps } } } }), 'spec.strategy.blueGreen'],
    ['blue and green beside steps', rolloutWith({ spec: { strategy: { blueGreen: {}, canary: { steps } } } }), 'spec.strategy.blueGreen'],
    ['a fraction of requests', rolloutInSteps({ replicas: 1, traffic: '5%' }), 'spec.strategy.canary.steps[0].traffic'],
    ['matching requests', rolloutInSteps({ replicas: 1 }, { replicas: 2, matches: [] }), 'spec.strategy.canary.steps[1].matches'],
    [
      'changed request headers',
      rolloutInSteps({ replicas: 1, requestHeaderModifier: {} }),
      'spec.strategy.canary.steps[0].requestHeaderModifier',
    ],
    ['a traffic routing', inCanary({ trafficRoutings: [{ service: 'web' }] }), 'spec.strategy.canary.trafficRoutings'],
    ['a traffic routing by name', inCanary({ trafficRoutingRef: 'web' }), 'spec.strategy.canary.trafficRoutingRef'],
    ['labels of canary pods', inCanary({ patchPodTemplateMetadata: {} }), 'spec.strategy.canary.patchPodTemplateMetadata'],
  ])('%s', (_, rollout, path) => {
    expect(validateRollout(rollout)).toMatchObject([{ path, reason: 'UnsupportedField' }])
  })
})

describe('numbers and percentages are compared', () => {
  const mixed = rolloutInSteps({ replicas: 5 }, { replicas: '10%' })

  it('not at all while the desired nodes are unknown', () => {
    expect(validateRollout(mixed)).toEqual([])
  })

  it('as nodes when the desired nodes are known', () => {
    expect(validateRollout(mixed, { desired: 30 })).toMatchObject([{ path: 'spec.strategy.canary.steps[1].replicas', value: '10%' }])
    expect(validateRollout(mixed, { desired: 50 })).toEqual([])
  })

  it('after clamping, so that a number above the fleet and 100% are one size', () => {
    expect(validateRollout(rolloutInSteps({ replicas: 500 }, { replicas: '100%' }), { desired: 30 })).toEqual([])
  })
})

describe('a Rollout of another workload', () => {
  it.each([
    ['Deployment', 'apps/v1'],
    ['StatefulSet', 'apps/v1'],
    ['CloneSet', 'apps.kruise.io/v1alpha1'],
    ['DaemonSet', 'apps.kruise.io/v1alpha1'],
  ])('(%s of %s) has no problems, only advice', (kind, apiVersion) => {
    const rollout = rolloutWith({ spec: { workloadRef: { apiVersion, kind, name: 'web' }, strategy: { blueGreen: {} } } })
    expect(validateRollout(rollout)).toEqual([])
    expect(adviseRollout(rollout).map(problemText)).toEqual([
      `spec.workloadRef is "${kind} of ${apiVersion}": Tranche releases only DaemonSets of apps/v1 and ignores this Rollout; leave it to the controller of that kind`,
    ])
  })
})

describe('advice about a Rollout', () => {
  it.each<[string, Rollout, readonly string[]]>([
    ['a last step of 100% needs no advice', rolloutWith(), []],
    ...(['Freeze', 'Complete', 'Rollback'] as const).map((policy): [string, Rollout, readonly string[]] => [
      `${policy} on deletion needs no word`,
      rolloutAnnotated({ 'tranche.dev/on-delete': policy }),
      [],
    ]),
    [
      'a last step below 100%',
      rolloutInSteps({ replicas: '30%' }),
      [
        'spec.strategy.canary.steps[0].replicas is "30%": the last step is below 100%, so the remaining nodes follow in one more batch after its pause; add a step of "100%" to make that explicit',
      ],
    ],
    [
      'a field without effect',
      inCanary({ enableExtraWorkloadForCanary: true }),
      ['spec.strategy.canary.enableExtraWorkloadForCanary is true: it has no effect on a DaemonSet; remove it'],
    ],
    [
      'another field without effect',
      inCanary({ disableGenerateCanaryService: true }),
      ['spec.strategy.canary.disableGenerateCanaryService is true: it has no effect on a DaemonSet; remove it'],
    ],
  ])('%s', (_, rollout, advice) => {
    expect(adviseRollout(rollout).map(problemText)).toEqual(advice)
  })

  it.each(['120%', '0%', '-5%', 0, 'many'])('has no advice about a last step with an invalid size: %j', (replicas) => {
    expect(adviseRollout(rolloutInSteps({ replicas }), { desired: 30, workloadExists: true })).toEqual([])
  })

  it('suggests the right spelling for a misspelled DaemonSet', () => {
    const ref = { apiVersion: 'apps/v1', kind: 'Daemonset', name: 'node-agent' }
    const fix = 'if you mean a DaemonSet, write DaemonSet and apps/v1; otherwise leave it to the controller of that kind'
    expect(adviseRollout(rolloutWith({ spec: { workloadRef: ref } }))).toMatchObject([{ rule: 'OtherWorkload', fix }])
    expect(adviseRollout(rolloutWith({ spec: { workloadRef: { ...ref, kind: 'Deployment' } } }))[0]?.fix).not.toContain('DaemonSet')
  })

  it.each<[string, Rollout, AdviceSurroundings, readonly AdviceRule[]]>([
    ['a number above the number of nodes', rolloutInSteps({ replicas: 31 }), { desired: 30, workloadExists: true }, ['SizeAboveFleet']],
    ['a number of all the nodes needs no advice', rolloutInSteps({ replicas: 30 }), { desired: 30, workloadExists: true }, []],
    [
      'a last number below the number of nodes',
      rolloutInSteps({ replicas: 29 }),
      { desired: 30, workloadExists: true },
      ['LastStepBelowAll'],
    ],
    ['a DaemonSet that runs nowhere needs no advice', rolloutInSteps({ replicas: 3 }), { desired: 0, workloadExists: true }, []],
    ['a DaemonSet that may come later', rolloutWith(), { desired: null, workloadExists: false }, ['WorkloadAbsent']],
  ])('%s', (_, rollout, surroundings, advice) => {
    expect(adviseRollout(rollout, surroundings).map(({ rule }) => rule)).toEqual(advice)
    expect(validateRollout(rollout, surroundings)).toEqual([])
  })
})

describe('an action in the annotation', () => {
  it.each([
    ['is not JSON', 'approve'],
    ['is not an object', '"approve"'],
    ['has an empty id', '{"id":"","type":"approve"}'],
    ['has an unknown type', '{"id":"1","type":"continue"}'],
    ['has a misspelled guard', '{"id":"1","type":"approve","expectdStep":2}'],
    ['has a step from 0', '{"id":"1","type":"approve","expectedStep":0}'],
    ['jumps without a step', '{"id":"1","type":"jump"}'],
    ['approves with a step', '{"id":"1","type":"approve","step":2}'],
    ['retries in full', '{"id":"1","type":"retry","full":true}'],
  ])('is a problem when it %s', (_, action) => {
    const rollout = rolloutAnnotated({ 'tranche.dev/action': action })
    expect(parseAction(rollout)).toMatchObject({ kind: 'problem' })
    expect(validateRollout(rollout)).toMatchObject([{ path: 'metadata.annotations[tranche.dev/action]', value: action }])
    expect(validateSpec(rollout)).toEqual([])
  })

  it('says that it is not JSON', () => {
    expect(validateRollout(rolloutAnnotated({ 'tranche.dev/action': 'approve' })).map(({ message }) => message)).toEqual(['it is not JSON'])
  })

  it('names its problem', () => {
    const rollout = rolloutAnnotated({ 'tranche.dev/action': '{"id":"1","type":"jump"}' })
    expect(validateRollout(rollout).map(problemText)).toEqual([
      'metadata.annotations[tranche.dev/action] is "{\\"id\\":\\"1\\",\\"type\\":\\"jump\\"}": a jump needs a step; write JSON such as {"id":"approve-step-2","type":"approve","expectedStep":2}, or remove it',
    ])
  })

  it.each([
    { id: '1', type: 'approve', expectedStep: 2, revision: '5d4f', by: 'ann', reason: 'looks good' },
    { id: '2', type: 'jump', step: 3 },
    { id: '3', type: 'promote', full: true },
    { id: '4', type: 'abort' },
    { id: '5', type: 'retry' },
  ])('is parsed when it is valid: $type', (action) => {
    expect(parseAction(rolloutAnnotated({ 'tranche.dev/action': JSON.stringify(action) }))).toEqual({ kind: 'action', action })
  })

  it('gets an id from its content when it has none, independent of the order of its members', () => {
    const [first, second] = ['{"type":"abort","reason":"errors"}', '{"reason":"errors","type":"abort"}'].map((text) =>
      parseAction(rolloutAnnotated({ 'tranche.dev/action': text })),
    )
    expect(first).toMatchObject({ kind: 'action', action: { id: expect.stringMatching(/^auto-[0-9a-f]{16}$/), type: 'abort' } })
    expect(second).toEqual(first)
  })

  it('may be absent', () => {
    expect(parseAction(rolloutWith())).toEqual({ kind: 'none' })
  })
})

describe('during a release', () => {
  const canaryStatus: CanaryStatus = {
    podTemplateHash: '',
    currentStepIndex: 1,
    nextStepIndex: 2,
    finalisingStep: '',
    currentStepState: 'StepPaused',
    canaryRevision: '',
    canaryReplicas: 0,
    canaryReadyReplicas: 0,
  }
  const status: RolloutStatus = { phase: 'Progressing', currentStepIndex: 1, currentStepState: 'StepPaused', canaryStatus }
  const before = rolloutWith({ status })

  it.each<[string, Rollout, readonly string[]]>([
    ['sizes and pauses may change', rolloutInSteps({ replicas: '20%' }, { replicas: '90%', pause: {} }), []],
    ['the workload cannot change', rolloutWith({ spec: { workloadRef: { ...workloadRef, name: 'other' } } }), ['spec.workloadRef']],
    ['the number of steps cannot change', rolloutInSteps({ replicas: '20%' }), ['spec.strategy.canary.steps']],
  ])('%s', (_, after, paths) => {
    expect(validateChange(before, after).map(({ path }) => path)).toEqual(paths)
    expect(validateChange(rolloutWith(), after)).toEqual([])
  })

  it.each<[RolloutPhase, number]>([
    ['Initial', 0],
    ['Healthy', 0],
    ['Progressing', 1],
    ['Terminating', 1],
    ['Disabling', 1],
    ['Disabled', 0],
  ])('that is, in phase %s: %i problems', (phase, count) => {
    expect(validateChange(rolloutWith({ status: { ...status, phase } }), rolloutInSteps({ replicas: 1 }))).toHaveLength(count)
  })
})

describe('several problems', () => {
  const rollout = rolloutInSteps({ replicas: 0 }, { replicas: '150%' }, { replicas: 1, pause: { duration: -5 } })

  it('are all found, in the order of the fields', () => {
    expect(validateRollout(rollout).map(({ path }) => path)).toEqual([
      'spec.strategy.canary.steps[0].replicas',
      'spec.strategy.canary.steps[1].replicas',
      'spec.strategy.canary.steps[2].pause.duration',
    ])
  })

  it('are all reported in one line', () => {
    expect(problemsText(validateRollout(rollout))).toMatch(
      /^spec\.strategy\.canary\.steps\[0\]\.replicas is 0: .*; and spec\.strategy\.canary\.steps\[1\]\.replicas is "150%": .*; and spec\.strategy\.canary\.steps\[2\]\.pause\.duration is -5: .*for approval$/,
    )
    expect(problemsText([])).toBe('')
  })

  it('are counted when the line would be too long', () => {
    const text = problemsText(validateRollout(rolloutInSteps(...Array.from({ length: 20 }, () => ({ replicas: 0 })))))
    expect(text).toMatch(/^spec\.strategy\.canary\.steps\[0\].*; and spec\.strategy\.canary\.steps\[3\].* \(and 16 more\)$/)
    expect(text.length).toBeLessThan(1_000)
  })

  it('are named by field when the line has no room for a few', () => {
    const text = problemsText([roomAdvice('Check'), groupAdvice('x'.repeat(400)), prePullAdvice({}), downtimeAdvice('5m')], 600)
    expect(text).toMatch(/ \(and 2 more: spec\.prePull, spec\.downtime\.perDay\)$/)
  })

  it('cut long values', () => {
    const long = rolloutAnnotated({ 'tranche.dev/action': 'x'.repeat(5000) })
    expect(problemsText(validateRollout(long)).length).toBeLessThan(400)
  })
})
