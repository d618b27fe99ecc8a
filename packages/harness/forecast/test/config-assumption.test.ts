import type { DaemonSet } from '@tranche/kube-types'
import { expect, it } from 'vitest'
import { configAssumption } from '../src/config-assumption.ts'

const daemonSet = {
  spec: { template: { spec: { volumes: [{ name: 'v', configMap: { name: 'agent' } }], containers: [{ volumeMounts: [{ name: 'v' }] }] } } },
} as unknown as DaemonSet

it('a forecast says which config may change without a release', () => {
  expect(configAssumption(daemonSet, [{ kind: 'Secret', name: 'agent' }])).toEqual([
    'config is assumed to stay as it is: a change of ConfigMap agent reaches running pods, on every node and outside the batches of a release',
  ])
})

it('a forecast says nothing about config that is part of the version', () => {
  expect(configAssumption(daemonSet, [{ kind: 'ConfigMap', name: 'agent' }])).toEqual([])
})

it('a forecast says nothing about config of which the template names a copy', () => {
  const metadata = { annotations: { 'tranche.dev/pinned-config': 'ConfigMap/agent=agent-1' } }
  const { spec } = daemonSet
  expect(configAssumption({ ...daemonSet, spec: { ...spec, template: { ...spec.template, metadata } } }, [])).toEqual([])
})
