import type { DaemonSet } from '@tranche/kube-types'
import { adviseDaemonSet, problemText, validateKeys } from '@tranche/validation'
import { describe, expect, it } from 'vitest'

const kruise = 'rollouts.kruise.io'

describe('our annotations on a DaemonSet', () => {
  it('are valid as the controller writes them, and others are ignored', () => {
    const annotations = {
      [`${kruise}/daemonset-canary-revision`]: '7c9f',
      [`${kruise}/daemonset-stable-revision`]: '5d4f',
      [`${kruise}/daemonset-partition`]: '27',
      'tranche.dev/paused': 'true',
      'batchrelease.rollouts.kruise.io/control-info': '{"name":"node-agent","uid":"b1"}',
      [`${kruise}/in-progressing`]: '{"rolloutName":"node-agent"}',
      [`${kruise}/daemonset-original-update-strategy`]: 'RollingUpdate',
      'tranche.dev/rollout': 'node-agent',
      'tranche.dev/frozen': '{"revision":"7c9f"}',
      'example.com/note': '{',
    }
    expect(validateKeys({ annotations })).toEqual([])
    expect(validateKeys({})).toEqual([])
  })

  it.each([
    [`${kruise}/daemonset-partition`, 'half', 'it must be a whole number from 0: the nodes to keep on the old revision'],
    [`${kruise}/daemonset-partition`, '-1', 'it must be a whole number from 0: the nodes to keep on the old revision'],
    [`${kruise}/daemonset-canary-revision`, '', 'it must be the controller-revision-hash being released'],
    [`${kruise}/daemonset-stable-revision`, 'v1 v2', 'it must be the controller-revision-hash being replaced'],
    ['batchrelease.rollouts.kruise.io/control-info', 'node-agent', 'it must be JSON with name and uid of the BatchRelease in charge'],
    [
      'batchrelease.rollouts.kruise.io/control-info',
      '{"name":"node-agent"}',
      'it must be JSON with name and uid of the BatchRelease in charge',
    ],
    [`${kruise}/in-progressing`, 'true', 'it must be JSON such as {"rolloutName":"node-agent"}'],
    ['tranche.dev/rollout', 'Node Agent', 'it must be the name of the Rollout that the DaemonSet is bound to'],
    ['tranche.dev/frozen', '[]', 'it must be JSON that records the state left when a Rollout was disabled or deleted'],
  ])('%s is not %j', (key, value, says) => {
    expect(validateKeys({ annotations: { [key]: value } }).map(problemText)).toEqual([
      `metadata.annotations[${key}] is ${JSON.stringify(value)}: ${says}; remove the annotation; the controller writes it`,
    ])
  })

  it('the stored strategy must be a type, because otherwise it is not restored', () => {
    expect(validateKeys({ annotations: { [`${kruise}/daemonset-original-update-strategy`]: 'Recreate' } }).map(problemText)).toEqual([
      `metadata.annotations[${kruise}/daemonset-original-update-strategy] is "Recreate": it must be the strategy type to restore: RollingUpdate or OnDelete; set it to the type that the DaemonSet had, RollingUpdate or OnDelete; otherwise the strategy stays OnDelete after the release`,
    ])
  })

  it('the value false does not lift the stop', () => {
    expect(validateKeys({ annotations: { 'tranche.dev/paused': 'false' } }).map(problemText)).toEqual([
      'metadata.annotations[tranche.dev/paused] is "false": any value stops every deletion, and only "true" is valid; remove it, and set spec.strategy.paused of the Rollout instead',
    ])
  })
})

describe('a DaemonSet that a Rollout releases', () => {
  const daemonSet = (spec: Partial<DaemonSet['spec']>): DaemonSet => ({
    metadata: { name: 'node-agent', uid: 'd1', resourceVersion: '1' },
    spec: { template: {}, ...spec },
  })

  it.each<[string, Partial<DaemonSet['spec']>, readonly string[]]>([
    ['needs no advice with OnDelete', { updateStrategy: { type: 'OnDelete' } }, []],
    ['has a native start with RollingUpdate', { updateStrategy: { type: 'RollingUpdate' } }, ['NativeMoment']],
    ['has a native start by default', {}, ['NativeMoment']],
    ['has no revision to roll back to without history', { updateStrategy: { type: 'OnDelete' }, revisionHistoryLimit: 0 }, ['HistoryGone']],
  ])('%s', (_, spec, rules) => {
    expect(adviseDaemonSet(daemonSet(spec)).map(({ rule }) => rule)).toEqual(rules)
  })
})
