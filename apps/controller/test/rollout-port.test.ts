import type { Rollout } from '@tranche/api-schema'
import type { JsonPatchOperation, KubeClient } from '@tranche/kube-client'
import { expect, it } from 'vitest'
import { createRolloutPort, type RolloutPortParts } from '../src/ports/rollout-port.ts'

const canary = { matchLabels: { pool: 'canary' } }
const rollout = {
  metadata: { namespace: 'demo', name: 'agent', resourceVersion: '7', annotations: { kept: 'yes', gone: 'soon' } },
  spec: { strategy: { canary: { steps: [{ replicas: 1 }, { replicas: 2, nodes: canary }] } } },
} as unknown as Rollout

it('annotations are written only where the API server still has the nodes of steps (F11)', async () => {
  let sent: readonly JsonPatchOperation[] = []
  const client = {
    patch: async (_resource: unknown, _key: unknown, { body }: { readonly body: readonly JsonPatchOperation[] }) => {
      sent = body
      return rollout
    },
  } as unknown as KubeClient
  const port = createRolloutPort({ client, cluster: { overlay: { rollouts: { learn: () => {} } } } } as unknown as RolloutPortParts)
  await port.setAnnotations(rollout, { gone: null, 'tranche.dev/new': 'text' }, new AbortController().signal)
  expect(sent).toEqual([
    { op: 'test', path: '/metadata/resourceVersion', value: '7' },
    { op: 'test', path: '/spec/strategy/canary/steps/1/nodes', value: canary },
    { op: 'add', path: '/metadata/annotations', value: { kept: 'yes', 'tranche.dev/new': 'text' } },
  ])
})

it.each([
  ['validated strictly if its steps have nodes (F11)', rollout, 'Strict'],
  ['not validated strictly otherwise', { ...rollout, spec: { strategy: { canary: { steps: [{ replicas: 1 }] } } } }, undefined],
])('a first status is %s', async (_how, of, fieldValidation) => {
  let options: unknown
  const client = {
    update: async (_resource: unknown, object: Rollout, given: unknown) => {
      options = given
      return object
    },
  } as unknown as KubeClient
  const parts = { client, cluster: { overlay: { rollouts: { learn: () => {} } } }, schemas: { suspect: () => {} } }
  const port = createRolloutPort(parts as unknown as RolloutPortParts)
  await port.writeStatus(of as Rollout, { currentStepIndex: 1, currentStepState: 'Completed' }, new AbortController().signal)
  expect(options).toMatchObject({ subresource: 'status', ...(fieldValidation !== undefined && { fieldValidation }) })
  if (fieldValidation === undefined) expect(options).not.toHaveProperty('fieldValidation')
})
